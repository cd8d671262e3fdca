import { type Logger, PeriodicTask } from '@runyard/service-kit';
import type { Rollouts } from '../deployments/desired-state.ts';
import type { PrismaClient } from '../generated/client.ts';

const EVERY_MS = 1_000;

/**
 * Wakes the roll-outs of this process for halts that another process of the service has recorded: they must not wait for
 * the next sweep.
 */
export function watchHalts({
  prisma,
  rollouts,
  logger,
}: {
  prisma: PrismaClient;
  rollouts: Pick<Rollouts, 'wake'>;
  logger: Logger;
}): PeriodicTask {
  /** The versions that roll-outs were woken for: what fails is retried where it failed. */
  let woken = new Map<string, bigint>();
  return new PeriodicTask({
    name: 'halts',
    everyMs: EVERY_MS,
    async run() {
      const open = await prisma.$queryRaw<{ id: string; version: bigint }[]>`
        SELECT id, halt_version AS version FROM deployment
        WHERE halt_version <> halt_reached_version AND listener_id IS NULL`;
      for (const { id, version } of open) if (woken.get(id) !== version) rollouts.wake(id);
      woken = new Map(open.map(({ id, version }) => [id, version]));
    },
    logger,
  });
}
