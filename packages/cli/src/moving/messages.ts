import { isObject } from '../agent-server/json.ts';

const TYPES = ['human', 'ai', 'system', 'tool', 'function', 'remove', 'developer', 'chat'];

/** Returns whether a value is a message of LangChain as servers write it in JSON. */
function isMessage(value: Record<string, unknown>): boolean {
  return typeof value.type === 'string' && TYPES.includes(value.type) && 'content' in value && 'id' in value;
}

/**
 * Leaves empty fields out of the messages in a value: LangChain in Python puts those that it does not take from a client
 * into `additional_kwargs`, and every server answers with those that it knows.
 */
export function withoutEmptyFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyFields);
  if (!isObject(value)) return value;
  const fields = Object.entries(value);
  if (isMessage(value))
    return Object.fromEntries(fields.filter(([key, field]) => key === 'content' || !isEmpty(field)));
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutEmptyFields(field)]));
}

function isEmpty(field: unknown): boolean {
  if (field === undefined || field === null || field === false || (Array.isArray(field) && field.length === 0))
    return true;
  return isObject(field) && Object.keys(field).length === 0;
}

/** Fields that LangChain in Python puts into `additional_kwargs` of a message that a client writes. */
const MOVED = ['usage_metadata', 'invalid_tool_calls'];

/** Moves such fields, as the counted tokens, back to where they were, in all messages of a value. */
function withFieldsInPlace(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFieldsInPlace);
  if (!isObject(value)) return value;
  if (isMessage(value)) return messageInPlace(value);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withFieldsInPlace(field)]));
}

function messageInPlace(message: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(message.additional_kwargs)) return message;
  const kwargs = Object.entries(message.additional_kwargs);
  const isMoved = ([key]: [string, unknown]) => MOVED.includes(key) && isEmpty(message[key]);
  const moved = Object.fromEntries(kwargs.filter(isMoved));
  return { ...message, ...moved, additional_kwargs: Object.fromEntries(kwargs.filter((entry) => !isMoved(entry))) };
}

/** Returns a value in which messages of different servers are the same if they say the same. */
export function comparable(value: unknown): unknown {
  return withoutEmptyFields(withFieldsInPlace(value));
}
