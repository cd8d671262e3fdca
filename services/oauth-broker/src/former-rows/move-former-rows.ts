import { setTimeout as pause } from 'node:timers/promises';
import { FormerRows, type FormerRowsRequest } from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import type { Cipher } from '@runyard/encryption';
import type { InternalClient, ServiceContext } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { storeRows } from './store-rows.ts';

const RETRY_MS = 500;
/** Number of tries per log line: one line in ten seconds. */
const LOG_EVERY = 20;

interface Dependencies {
  database: Database;
  controlPlane: Pick<InternalClient, 'ask'>;
  cipher: Cipher;
}

/**
 * Moves what control-plane kept of this service in older releases, once: control-plane decrypts with its key, and this
 * service encrypts with its own. A page is stored, then deleted there with the next question, so that a kill at any
 * moment leaves each row in one place at least. Nothing is served before the end, and a lock makes each page one step of
 * all processes of this service: whoever has seen the last page knows that no other process still stores an earlier one.
 * Rejects when the service is asked to stop.
 */
export async function moveFormerRows(dependencies: Dependencies, context: ServiceContext): Promise<void> {
  const { logger, lifecycle } = context;
  for (let tries = 0; ; tries += 1) {
    lifecycle.stopping.throwIfAborted();
    try {
      if (await isDone(dependencies.database)) return;
      const { moved, undecryptable, displaced } = await moveAll(dependencies, lifecycle.stopping);
      if (moved > 0) logger.info('rows of control-plane moved', { moved });
      if (undecryptable > 0) logger.error('rows of control-plane left: they cannot be decrypted', { undecryptable });
      if (displaced > 0) logger.error('rows of control-plane left: their provider was made anew', { displaced });
      return;
    } catch (error) {
      lifecycle.stopping.throwIfAborted();
      if (tries % LOG_EVERY === 0) logger.warn('waiting for control-plane, which has the rows to move', { error });
    }
    await pause(RETRY_MS, undefined, { signal: lifecycle.stopping }).catch(() => undefined);
  }
}

async function isDone({ prisma }: Database): Promise<boolean> {
  return (await prisma.formerRowsMoved.findFirst()) !== null;
}

async function moveAll(
  { database, controlPlane, cipher }: Dependencies,
  stopping: AbortSignal,
): Promise<{ moved: number; undecryptable: number; displaced: number }> {
  const total = { moved: 0, undecryptable: 0, displaced: 0 };
  let question: FormerRowsRequest = {};
  for (;;) {
    stopping.throwIfAborted();
    const { page, ids } = await database.transact(async (transaction) => {
      await takeAdvisoryLock(transaction, 'rows of control-plane');
      const page = await controlPlane.ask('/internal/oauth/former-rows', question, FormerRows);
      const ids = await storeRows(transaction, cipher, page);
      // The last page is empty: control-plane has deleted what was stored before.
      if (page.next === null) await transaction.formerRowsMoved.createMany({ data: {}, skipDuplicates: true });
      return { page, ids };
    });
    total.moved += ids.length;
    total.undecryptable += page.undecryptable;
    total.displaced += page[page.kind].length - ids.length;
    if (page.next === null) return total;
    question = { stored: { kind: page.kind, ids }, after: page.next };
  }
}
