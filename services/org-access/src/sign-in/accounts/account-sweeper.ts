import { type Logger, PeriodicTask } from '@runyard/service-kit';
import type { PrismaClient } from '../../generated/client.ts';

const EVERY_MS = 600_000;
/** Used and expired tokens stay a day, so that an operator can see what became of a link. */
const KEPT_MS = 86_400_000;

/** Deletes one-time tokens and counts of attempts that are of no use any more. Any number of processes may do so. */
export class AccountSweeper {
  readonly #prisma: PrismaClient;
  readonly #task: PeriodicTask;

  constructor({ prisma, logger }: { prisma: PrismaClient; logger: Logger }) {
    this.#prisma = prisma;
    this.#task = new PeriodicTask({ name: 'one-time tokens', everyMs: EVERY_MS, run: () => this.sweep(), logger });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async sweep(): Promise<void> {
    const before = new Date(Date.now() - KEPT_MS);
    await this.#prisma.oneTimeToken.deleteMany({ where: { expiresAt: { lt: before } } });
    await this.#prisma.signInThrottle.deleteMany({ where: { lastFailedAt: { lt: before } } });
  }
}
