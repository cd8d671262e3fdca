/** Types of LangChain messages in JSON. */
const MESSAGE_TYPES = new Set(['human', 'ai', 'system', 'tool', 'function', 'remove', 'chat', 'developer']);

/**
 * Gives every message inside state values the fields that clients of thread state rely on, whether or not they are set:
 * `name`, `example`, and for `ai` messages `tool_calls`, `invalid_tool_calls` and `usage_metadata`. Changes the value
 * in place: callers have just parsed it.
 */
export function completeMessages(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    for (const item of value) completeMessages(item);
    return value;
  }
  const object = value as Record<string, unknown>;
  if (isMessage(object)) {
    object.name ??= null;
    object.example ??= false;
    object.id ??= null;
    if (object.type === 'ai') {
      object.tool_calls ??= [];
      object.invalid_tool_calls ??= [];
      object.usage_metadata ??= null;
    }
    return object;
  }
  for (const item of Object.values(object)) completeMessages(item);
  return object;
}

function isMessage(object: Record<string, unknown>): boolean {
  return (
    typeof object.type === 'string' &&
    MESSAGE_TYPES.has(object.type) &&
    'content' in object &&
    ('additional_kwargs' in object || 'response_metadata' in object)
  );
}
