import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { SerializedValue } from '../backend.ts';

/** Serializers of some versions return values, others promises; both are awaited. */
export async function serialize(serde: SerializerProtocol, value: unknown): Promise<SerializedValue> {
  const [type, data] = await serde.dumpsTyped(value);
  return { type, data };
}

export async function deserialize(serde: SerializerProtocol, { type, data }: SerializedValue): Promise<unknown> {
  // The graph gets raw bytes directly: a copy, so that nobody sees the buffer they were read into.
  return serde.loadsTyped(type, type === 'bytes' ? new Uint8Array(data) : data);
}

/**
 * Returns the plain JSON of a value whose serializer encrypts or packs it, for searches. Values without a JSON form are
 * left out.
 */
export function toPlainJson(value: unknown): Record<string, unknown> {
  const parsed: unknown = JSON.parse(tolerantJson(value) ?? '{}');
  return parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)
    ? (parsed as Record<string, unknown>)
    : {};
}

function tolerantJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
  } catch {
    return undefined;
  }
}
