import { type Logger, PeriodicTask } from '@runyard/service-kit';
import type { Prisma, PrismaClient } from '../../generated/client.ts';

const EVERY_MS = 3_600_000;
/** Ended sessions stay a month, so that an administrator can see what became of one that the audit trail names. */
const KEPT_MS = 30 * 86_400_000;

/**
 * Deletes sessions that ended long ago, refresh tokens of those that ended, and programs' questions that nobody answered in
 * time. Any number of processes may do so.
 */
export class SessionSweeper {
  readonly #prisma: PrismaClient;
  readonly #task: PeriodicTask;

  constructor({ prisma, logger }: { prisma: PrismaClient; logger: Logger }) {
    this.#prisma = prisma;
    this.#task = new PeriodicTask({ name: 'ended sessions', everyMs: EVERY_MS, run: () => this.sweep(), logger });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async sweep(): Promise<void> {
    // No session outlives this: one that ended before it expired is deleted with its expiry.
    await this.#prisma.session.deleteMany({ where: { expiresAt: { lt: new Date(Date.now() - KEPT_MS) } } });
    const hasEnded: Prisma.SessionWhereInput = { OR: [{ endedAt: { not: null } }, { expiresAt: { lt: new Date() } }] };
    await this.#prisma.refreshToken.deleteMany({ where: { session: hasEnded } });
    await this.#prisma.deviceAuthorization.deleteMany({ where: { expiresAt: { lt: new Date() } } });
  }
}
