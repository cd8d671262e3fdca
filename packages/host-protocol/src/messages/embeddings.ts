import Type, { type Static } from 'typebox';
import { form, request } from './message.ts';

const EmbeddingsSource = form(
  'EmbeddingsSource',
  Type.Union([
    Type.Object({
      kind: Type.Literal('export'),
      file: Type.String(),
      module: Type.Optional(Type.String()),
      symbol: Type.String(),
    }),
    Type.Object({
      kind: Type.Literal('provider'),
      provider: Type.String(),
      model: Type.String(),
      projectDir: Type.String(),
    }),
  ]),
);
/** The source of embeddings: an export of the project, or a model of a provider whose package the project has. */
export type EmbeddingsSource = Static<typeof EmbeddingsSource>;

export const embeddingsToHost = {
  'embed.texts': request(
    'embed.texts',
    {
      source: EmbeddingsSource,
      texts: Type.Array(Type.String()),
      as: Type.Union([Type.Literal('documents'), Type.Literal('query')], {
        description: 'Some models embed queries in another way than documents.',
      }),
    },
    {
      answer: Type.Array(Type.Integer({ minimum: 0 }), { description: 'length of each vector' }),
      answerRaw: 'the vectors, four-byte little-endian floats',
      means: 'vectors of texts; error kind `load` when the embeddings cannot be loaded',
    },
  ),
} as const;
