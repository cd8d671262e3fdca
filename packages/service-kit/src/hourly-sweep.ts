import type { Lifecycle } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import { PeriodicTask } from './periodic-task.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Sweeps now and every hour until the service stops. Any number of processes may sweep at once. */
export function startHourlySweep(
  name: string,
  sweep: () => Promise<void>,
  { lifecycle, logger }: { lifecycle: Pick<Lifecycle, 'onStop'>; logger: Logger },
): void {
  const task = new PeriodicTask({ name, everyMs: HOUR_MS, atStart: true, run: () => sweep(), logger });
  task.start();
  lifecycle.onStop(name, () => task.stop());
}
