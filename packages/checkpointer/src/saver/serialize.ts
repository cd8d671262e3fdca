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

/** Returns metadata as plain JSON, for searches. Fields without a JSON form are left out. */
export function toPlainJson(metadata: object): Record<string, unknown> {
  const whole = tolerantJson(metadata);
  if (whole !== undefined) return JSON.parse(whole) as Record<string, unknown>;
  const fields = Object.entries(metadata).flatMap(([name, value]) => {
    const text = tolerantJson(value);
    return text === undefined ? [] : [[name, JSON.parse(text) as unknown]];
  });
  return Object.fromEntries(fields) as Record<string, unknown>;
}

/** Returns undefined for a value without a JSON form. */
function tolerantJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
  } catch {
    return undefined;
  }
}
