import { randomUUID } from 'node:crypto';
import { Duty, DutyRounds } from '@runyard/database';
import type { RunEngine } from '@runyard/run-engine';
import type pg from 'pg';
import type { StateService } from '../threads/state-service.ts';
import { type EndTelling, tellEnded } from './tell-ended.ts';

const EVERY_MS = 2_000;
/** A process that ends with this duty is succeeded within a few seconds: clients wait for cancelled runs. */
const DUTY_MS = 3 * EVERY_MS;
/** Stuck threads are looked for in every so many rounds. */
const ROUNDS_PER_MEND = 30;

/**
 * Of all processes of the deployment one ends what no worker may be there to end: runs that were cancelled and whose worker is
 * gone. Cancelling needs no worker that way. It also reads the state of threads anew whose newest checkpoint was written by somebody
 * who died before telling what it holds, and once a minute frees threads that nothing else would ever free.
 */
export function createRescueRounds(
  options: Omit<EndTelling, 'engine'> & {
    engine: Pick<RunEngine, 'rescue' | 'currentEpoch'>;
    state: Pick<StateService, 'readAnew'>;
    pool: pg.Pool;
  },
): DutyRounds {
  const { engine, state, pool, logger } = options;
  let rounds = 0;
  return new DutyRounds({
    duty: new Duty(pool, { name: 'run rescue', holder: randomUUID(), leaseMs: DUTY_MS }),
    everyMs: EVERY_MS,
    async round() {
      const ended = await engine.rescue.endCancelled();
      await tellEnded(options, ended);
      for (const thread of await engine.rescue.findStatesBehind()) {
        // One that a run or somebody else takes meanwhile is told of by them; another failure is tried again in a minute.
        await state.readAnew(thread).catch((error: unknown) => {
          logger.debug('the state of a thread could not be read anew', { threadId: thread.threadId, error });
        });
      }
      rounds += 1;
      if (rounds % ROUNDS_PER_MEND !== 1) return;
      const threadIds = await engine.rescue.mendThreads();
      if (threadIds.length > 0) logger.error('threads that nothing would have freed were mended', { threadIds });
    },
    onError: (error) => logger.warn('cancelled runs of lost workers could not be looked for', { error }),
  });
}
