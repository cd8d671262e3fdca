import type { CheckpointPut } from './backend.ts';

/** The type of values that are JSON text, whichever serializer wrote them. */
export const JSON_TYPE = 'json';

/** Returns the metadata of a put as plain JSON. */
export function metadataJsonOf({
  metadata,
  metadataJson,
}: Pick<CheckpointPut, 'metadata' | 'metadataJson'>): Record<string, unknown> {
  return metadataJson ?? (JSON.parse(new TextDecoder().decode(metadata.data)) as Record<string, unknown>);
}
