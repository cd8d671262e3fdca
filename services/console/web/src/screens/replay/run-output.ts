import { type Message, messagesOf } from '../../components/messages-content.ts';

type Fields = Record<string, unknown>;

/** The output of a run: its messages, where its graph has some, and the rest of its output. */
export interface RunOutput {
  /** The messages that came with the run; undefined where its graph has none. */
  messages: Message[] | undefined;
  /** Undefined where there is nothing beside the messages. */
  rest: unknown;
}

/**
 * Returns the output of a run.
 *
 * @param values the state at its end
 * @param before the state that it began with, whose messages are not of the run
 * @param schema of the output of its graph; null takes all values as output
 */
export function outputOf(values: unknown, before: unknown, schema: unknown): RunOutput {
  const known = new Set(messagesOf(before)?.map(({ id }) => id));
  const messages = messagesOf(values)?.filter(({ id }) => !known.has(id));
  if (!isFields(values)) return { messages, rest: values };
  const names = isFields(schema) && isFields(schema.properties) ? Object.keys(schema.properties) : undefined;
  const rest = Object.entries(values).filter(
    ([name]) => (names?.includes(name) ?? true) && !(messages && name === 'messages'),
  );
  return { messages, rest: rest.length > 0 || !messages ? Object.fromEntries(rest) : undefined };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
