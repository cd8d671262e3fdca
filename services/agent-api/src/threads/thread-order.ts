import type { ThreadSearchRequest } from '@runyard/contracts';
import { Prisma } from '../connections/prisma.ts';

type RequestedOrder = Pick<ThreadSearchRequest, 'sort_by' | 'sort_order'>;

/**
 * The columns of each order as an index has them, so that the index is read in either direction: the second one decides
 * among equals and is reversed with the first.
 */
const INDEXED: Record<NonNullable<ThreadSearchRequest['sort_by']>, [column: string, isDescending: boolean][]> = {
  thread_id: [['thread_id', false]],
  status: [
    ['status', false],
    ['updated_at', true],
  ],
  created_at: [
    ['created_at', true],
    ['thread_id', false],
  ],
  updated_at: [
    ['updated_at', true],
    ['thread_id', false],
  ],
  state_updated_at: [
    ['state_updated_at', true],
    ['thread_id', false],
  ],
};

/** Returns the ORDER BY over columns of `alias`. */
export function orderOf({ sort_by = 'updated_at', sort_order = 'desc' }: RequestedOrder, alias: 't' | 'm'): Prisma.Sql {
  const columns = INDEXED[sort_by];
  const isReversed = columns[0]![1] !== (sort_order === 'desc');
  const order = columns.map(([column, isDescending]) => {
    return `${alias}.${column} ${isDescending !== isReversed ? 'DESC' : 'ASC'}`;
  });
  return Prisma.raw(order.join(', '));
}
