import Type, { type Static } from 'typebox';

/** `store.index`: search by meaning. */
const StoreIndexSection = Type.Object(
  {
    embed: Type.String({
      pattern: ':|\\.[cm]?[jt]sx?$',
      description:
        'What makes vectors of texts: `"provider:model"` (`"openai:text-embedding-3-small"`; the provider\'s `@langchain` package and its key are the project\'s), or `"./file.ts:export"`, a function `(texts: string[]) => Promise<number[][]>` or LangChain embeddings. In Python: `"./file.py:name"` or `"package.module:name"`.',
    }),
    dims: Type.Integer({
      minimum: 1,
      maximum: 16_000,
      description: 'Dimensions of its vectors. The service does not start when they are others.',
    }),
    fields: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        default: ['$'],
        description:
          'Paths to the texts of an item that are embedded, each apart: `$` is the whole value, others are like `title`, `author.name`, `chapters[*].content`, `authors[0]`. A put may name others.',
      }),
    ),
  },
  { description: 'Search by meaning.' },
);

/** `store.ttl`: how long items are kept. */
const StoreTtlSection = Type.Object(
  {
    refresh_on_read: Type.Optional(
      Type.Boolean({ default: true, description: 'Reading an item starts its time again.' }),
    ),
    default_ttl: Type.Optional(
      Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()], {
        description: 'Minutes that items written without a time of their own are kept. Left out: for ever.',
      }),
    ),
    sweep_interval_minutes: Type.Optional(
      Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()], {
        description:
          'Minutes between two deletions of expired items. Left out: they stay in the database, though nobody sees them.',
      }),
    ),
  },
  { description: 'How long items are kept.' },
);

/** `store`: semantic search and lifetime of the items of the long-term store. */
export const StoreSection = Type.Object(
  { index: Type.Optional(StoreIndexSection), ttl: Type.Optional(StoreTtlSection) },
  { description: 'The long-term store.' },
);
export type StoreSection = Static<typeof StoreSection>;
