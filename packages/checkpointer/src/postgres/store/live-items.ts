import { containsAny, toSqlJson } from '@runyard/database';
import type { Scope } from '@runyard/run-engine';
import type { StoreOperation } from '../../backend.ts';
import type { Parameters } from '../parameters.ts';

/** An expired item does not exist any more, whether or not it has been swept. */
export const IS_LIVE = '(i.expires_at IS NULL OR i.expires_at > now())';

/** Returns the conditions on `store_item i` that every read begins with. */
export function isVisible({ scope }: Pick<StoreOperation, 'scope'>, parameters: Parameters): string[] {
  if (scope === undefined) return [IS_LIVE];
  const alternatives = scope.map((part) => `(${containsPart(part, parameters).join(' AND ')})`);
  return [IS_LIVE, `(${['FALSE', ...alternatives].join(' OR ')})`];
}

const ADDRESS = `jsonb_build_object('namespace', i.namespace, 'key', i.key)`;

/** Asks about the value for itself, so that its index finds the items and values that do not matter are not read. */
function containsPart(part: Scope[number], parameters: Parameters): string[] {
  const { namespace, key, ...fields } = part;
  const contains = (document: string, wanted: object) => `${document} @> ${parameters.add(toSqlJson(wanted))}::jsonb`;
  return [
    'TRUE',
    ...(Object.keys(fields).length > 0 ? [contains('i.value', fields)] : []),
    ...(namespace !== undefined || key !== undefined ? [contains(ADDRESS, { namespace, key })] : []),
  ];
}

/** Returns the condition that `store_item i` is within a scope, an SQL expression, of which each row has its own. */
export function isWithin(scope: string): string {
  return containsAny(`(i.value || ${ADDRESS})`, scope);
}

/** Returns the scope of an operation, in a list with those of others. */
export function scopeJson({ scope = [{}] }: Pick<StoreOperation, 'scope'>): string {
  return toSqlJson(scope);
}

export interface ItemRow {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  created_at: Date;
  updated_at: Date;
  ttl_minutes: number | null;
  /** How near it is, where a search asked for that. */
  score?: number;
}

/** Estimates the bytes of an item from above, by SQL over the columns of its row. */
export const ITEM_BYTES = 'octet_length(value::text) + octet_length(key) + octet_length(namespace::text)';

export const ITEM_COLUMNS = 'i.namespace, i.key, i.value, i.created_at, i.updated_at, i.ttl_minutes';
