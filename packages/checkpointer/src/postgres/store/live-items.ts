import { containsAny, toSqlJson } from '@runyard/database';
import type { StoreOperation } from '../../backend.ts';
import type { Parameters } from '../parameters.ts';

/** An expired item does not exist any more, whether or not it has been swept. */
export const IS_LIVE = '(i.expires_at IS NULL OR i.expires_at > now())';

/** Returns the conditions on `store_item i` that every read begins with. */
export function isVisible({ scope }: Pick<StoreOperation, 'scope'>, parameters: Parameters): string[] {
  if (scope === undefined) return [IS_LIVE];
  return [IS_LIVE, containsAny('i.value', `${parameters.add(toSqlJson(scope))}::jsonb`)];
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
}

export const ITEM_COLUMNS = 'i.namespace, i.key, i.value, i.created_at, i.updated_at, i.ttl_minutes';
