import type pg from 'pg';

/** The kill switch of a deployment, as its data plane has set it. */
export interface Halt {
  /** Why, in words for clients. */
  reason: string;
  /** True when runs that wait are cancelled too; false when they wait until the deployment is resumed. */
  cancelsQueued: boolean;
}

/** Returns the halt in force; undefined when there is none. */
export async function findHalt(db: Pick<pg.ClientBase, 'query'>): Promise<Halt | undefined> {
  const { rows } = await db.query<{ halt_reason: string; halt_cancels_queued: boolean }>({
    name: 'engine_find_halt',
    text: 'SELECT halt_reason, halt_cancels_queued FROM deployment WHERE halt_reason IS NOT NULL',
  });
  const [row] = rows;
  return row && { reason: row.halt_reason, cancelsQueued: row.halt_cancels_queued };
}
