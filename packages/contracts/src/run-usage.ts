import Type from 'typebox';

const UsedName = Type.String({ minLength: 1, maxLength: 200 });
/** Far more than an attempt ever uses; sums of them are numbers that a database has. */
const UsedCount = Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 });
const UsedCalls = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });

/** The calls of one model, and their tokens. Tokens of the cache are input too, and reasoning is output. */
export const ModelUsage = Type.Object({
  provider: Type.String({
    ...UsedName,
    description: 'As OpenTelemetry names it; `unknown` where LangChain does not know.',
  }),
  model: Type.String({ ...UsedName, description: '`unknown` when the model does not say.' }),
  calls: UsedCalls,
  failed: Type.Integer({ ...UsedCalls, description: 'Of the calls.' }),
  input_tokens: UsedCount,
  output_tokens: UsedCount,
  cache_read_tokens: UsedCount,
  cache_creation_tokens: UsedCount,
  reasoning_tokens: UsedCount,
});
export const ToolUsage = Type.Object({ name: UsedName, calls: UsedCalls, failed: UsedCalls });
/** Models, or tools, of an attempt. Those that come later than the fiftieth count as `other`. */
export const USED_NAMES_MAX = 51;
