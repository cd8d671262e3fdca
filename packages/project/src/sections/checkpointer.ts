import Type, { type Static } from 'typebox';
import { FOR_PYTHON, noEffect } from './no-effect.ts';

/** `checkpointer.ttl`: how long threads are kept. */
const CheckpointerTtlSection = Type.Object(
  {
    strategy: Type.Optional(
      Type.Enum(['delete', 'keep_latest'], {
        default: 'delete',
        description:
          'What goes when the time of a thread is over: `delete` the thread with its runs and checkpoints, `keep_latest` all checkpoints but what its newest state needs.',
      }),
    ),
    default_ttl: Type.Optional(
      Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 525_600_000 }), Type.Null()], {
        description:
          'Minutes that threads without a `ttl` of their own are kept, those that runs make included; it counts for threads made from then on. With `delete` from the creation of a thread, with `keep_latest` from the last change of its state. Left out: for ever.',
      }),
    ),
    sweep_interval_minutes: Type.Optional(
      Type.Number({
        default: 5,
        exclusiveMinimum: 0,
        description: 'Minutes between two looks at threads past their time.',
      }),
    ),
    sweep_limit: Type.Optional(
      Type.Integer({ default: 1000, minimum: 1, description: 'Threads that one look takes on at most.' }),
    ),
  },
  { description: 'How long threads are kept.' },
);

const CheckpointerSerdeSection = Type.Object(
  {
    allowed_json_modules: Type.Optional(
      Type.Union([Type.Literal(true), Type.Array(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }))], {
        description:
          'Classes that stored values may become again, each as the path of its module, like `["langchain_core", "prompts"]`, beside messages, documents and their like. What is not listed is read as plain data. `true`: every class that LangChain can load.',
      }),
    ),
    allowed_msgpack_modules: Type.Optional(
      noEffect(
        Type.Union(
          [Type.Literal(true), Type.Null(), Type.Array(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }))],
          {
            description:
              'Classes of Python that stored values may become again, each as `["module", "name"]`; `null`: those alone that only hold data. Left out: all.',
          },
        ),
        FOR_PYTHON,
      ),
    ),
    pickle_fallback: Type.Optional(
      noEffect(
        Type.Boolean({ description: 'Whether what has no other form is stored by pickle, and read. Left out: yes.' }),
        FOR_PYTHON,
      ),
    ),
  },
  { description: 'What may be read from stored checkpoints.' },
);

/** `checkpointer`: where and how long checkpoints are stored, and which classes may be read from them. */
export const CheckpointerSection = Type.Object(
  {
    backend: Type.Optional(
      Type.Enum(['default'], {
        default: 'default',
        description:
          "Where checkpoints are kept: in the deployment's Postgres, under the fence of the run that writes them. Another store is refused at start, since a run could not be resumed safely from it.",
      }),
    ),
    path: Type.Optional(
      Type.Never({ description: "The project's own checkpointer. Refused at start, like another `backend`." }),
    ),
    ttl: Type.Optional(CheckpointerTtlSection),
    serde: Type.Optional(CheckpointerSerdeSection),
  },
  { description: 'Checkpoints of threads.' },
);
export type CheckpointerSection = Static<typeof CheckpointerSection>;
