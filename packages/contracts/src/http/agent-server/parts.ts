import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';

/** Defines a set of words as one JSON Schema `enum`. */
export function stringEnum<const Words extends string[]>(
  values: [...Words],
  options: { default?: Words[number]; description?: string } = {},
) {
  return Type.Enum(values, { type: 'string', ...options });
}

/** A boolean in a query string, in the spellings that clients use. */
export const QueryFlag = Type.Enum(['true', 'false', '1', '0', 'True', 'False'], { type: 'string' });
export type QueryFlag = Static<typeof QueryFlag>;

/** A list in a query string: the parameter repeated, or given once. */
export const QueryList = Type.Union([Type.String(), Type.Array(Type.String())]);

/** Describes fields that are encrypted at rest: a list shows an item although one of its fields cannot be decrypted. */
export const UNDECRYPTABLE = 'In lists `{"__error__": {"error", "message"}}` where it cannot be decrypted.';

export const MultitaskStrategy = stringEnum(['reject', 'rollback', 'interrupt', 'enqueue']);
export const RunStatus = stringEnum(['pending', 'running', 'error', 'success', 'timeout', 'interrupted']);
export const ThreadStatus = stringEnum(['idle', 'busy', 'interrupted', 'error']);
export const CancelAction = stringEnum(['interrupt', 'rollback']);
export const SortOrder = stringEnum(['asc', 'desc']);

/** LangGraph's run configuration. Other keys of LangChain's `RunnableConfig` pass through. */
export const RunConfig = Type.Object(
  {
    tags: Type.Optional(Type.Array(Type.String())),
    recursion_limit: Type.Optional(Type.Integer({ minimum: 1 })),
    configurable: Type.Optional(JsonObject),
  },
  { $id: 'Config' },
);
export type RunConfig = Static<typeof RunConfig>;

const nullable = <T extends ReturnType<typeof Type.String> | typeof JsonObject>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** Names one checkpoint of a thread. */
export const CheckpointConfig = Type.Object(
  {
    thread_id: nullable(Type.String()),
    checkpoint_ns: nullable(Type.String()),
    checkpoint_id: nullable(Type.String()),
    checkpoint_map: nullable(JsonObject),
  },
  { $id: 'CheckpointConfig' },
);
export type CheckpointConfig = Static<typeof CheckpointConfig>;

/** Starts one node with its own input. */
const Send = Type.Union(
  [
    Type.Object({ node: Type.String(), input: Type.Unknown() }),
    Type.Object({
      node: Type.String(),
      args: Type.Unknown({ description: "LangGraph's own name of `input`, which `RemoteGraph` sends. `input` wins." }),
    }),
  ],
  { $id: 'Send' },
);

/** Resumes an interrupted graph, changes its state or chooses the next node. */
export const Command = Type.Object(
  {
    update: Type.Optional(Type.Union([JsonObject, Type.Array(Type.Unknown()), Type.Null()])),
    resume: Type.Optional(Type.Unknown({ description: 'Any JSON; the value `interrupt()` returns in the graph.' })),
    goto: Type.Optional(Type.Union([Send, Type.String(), Type.Array(Type.Union([Send, Type.String()])), Type.Null()])),
  },
  { $id: 'Command' },
);
export type Command = Static<typeof Command>;

/** Nodes to stop before or after; `"*"` is every node. */
export const InterruptNodes = Type.Union([Type.Literal('*'), Type.Array(Type.String())]);

/** A graph's question to a person, and the id for the answer. */
export const Interrupt = Type.Object(
  {
    id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    value: Type.Unknown(),
    response_schema: Type.Optional(
      Type.Union([JsonObject, Type.Null()], { description: 'JSON Schema of the answer, where the graph gives one.' }),
    ),
  },
  { $id: 'Interrupt' },
);

export const Limit = (defaultValue: number) => Type.Integer({ minimum: 1, maximum: 1000, default: defaultValue });
export const Offset = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 0 });

/** The two headers of every search answer. */
export const PAGINATION_HEADERS = {
  'X-Pagination-Total': 'Matches in all: exact up to 10,000, above that offset + rows + 1.',
  'X-Pagination-Next': 'Offset of the next page; absent on the last.',
};
