import { DueWork, type InternalClient, type Lifecycle, type Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { refreshBudgets } from './known-budgets.ts';
import { tellBudgets } from './tell-budgets.ts';

interface Dependencies {
  pool: pg.Pool;
  controlPlane: Pick<InternalClient, 'ask'>;
  logger: Logger;
}

/** A lost event, or a process that ended before it told, leaves nothing undone for longer. */
const EVERY_MS = 300_000;

/** Follows the budgets of workspaces, and tells control-plane which are used up. */
export function openBudgets(
  dependencies: Dependencies,
  lifecycle: Pick<Lifecycle, 'onStop'>,
): { refresh: () => void; tell: () => void } {
  const start = (name: string, work: () => Promise<void>) => {
    const due = new DueWork({
      work: async () => {
        await work();
        return EVERY_MS;
      },
      onError: (error) => dependencies.logger.warn(`${name} failed, will retry`, { error }),
    });
    due.start();
    lifecycle.onStop(name, () => due.stop());
    return due;
  };
  const telling = start('report of used-up budgets', () => tellBudgets(dependencies));
  const following = start('look at budgets of workspaces', async () => {
    await refreshBudgets(dependencies);
    telling.wake();
  });
  return { refresh: () => following.wake(), tell: () => telling.wake() };
}
