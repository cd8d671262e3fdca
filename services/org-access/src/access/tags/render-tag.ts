import type { Tagging, TagKey, TagValue } from '@runyard/contracts';
import type { Tagging as TaggingRow, TagKey as TagKeyRow, TagValue as TagValueRow } from '../../generated/client.ts';

export function renderTagKey(row: TagKeyRow): TagKey {
  return { ...renderCommon(row), key: row.key };
}

export function renderTagValue(row: TagValueRow): TagValue {
  return { ...renderCommon(row), tag_key_id: row.tagKeyId, value: row.value };
}

export function renderTagging(row: TaggingRow): Tagging {
  return {
    id: row.id,
    tag_value_id: row.tagValueId,
    resource_type: row.resourceType as Tagging['resource_type'],
    resource_id: row.resourceId,
    created_at: row.createdAt.toISOString(),
  };
}

function renderCommon({ id, description, createdAt, updatedAt }: TagKeyRow | TagValueRow) {
  return { id, description, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}
