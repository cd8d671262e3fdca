import { type Logger, PeriodicTask } from '@runyard/service-kit';
import type { PrismaClient } from '../generated/client.ts';

const WRITE_EVERY_MS = 30_000;

/** Collects the last use of keys and stores it from time to time, so that no request waits for it. */
export class LastUseRecorder {
  readonly #prisma: PrismaClient;
  readonly #logger: Logger;
  readonly #used = new Map<string, Date>();
  readonly #task: PeriodicTask;

  constructor(options: { prisma: PrismaClient; logger: Logger }) {
    this.#prisma = options.prisma;
    this.#logger = options.logger;
    const { logger } = options;
    this.#task = new PeriodicTask({
      name: 'last use of keys',
      everyMs: WRITE_EVERY_MS,
      run: () => this.write(),
      logger,
    });
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await this.write();
  }

  record(keyId: string): void {
    this.#used.set(keyId, new Date());
  }

  /** Never throws: a failed batch is lost, and the next use is stored again. */
  async write(): Promise<void> {
    if (this.#used.size === 0) return;
    const [ids, times] = [[...this.#used.keys()], [...this.#used.values()]];
    this.#used.clear();
    try {
      await this.#prisma.$executeRaw`
        UPDATE api_key SET last_used_at = used.at
        FROM unnest(${ids}::uuid[], ${times}::timestamptz[]) AS used (id, at)
        WHERE api_key.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)`;
    } catch (error) {
      this.#logger.warn('last use of API keys not stored', { keys: ids.length, error });
    }
  }
}
