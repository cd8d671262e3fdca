import type { BuildJob } from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import type { BuildMetrics } from './build-metrics.ts';
import { BuildSession, type BuildSessionOptions, retry } from './build-session.ts';
import { type ControlPlaneClient, OrderRefusedError } from './control-plane-client.ts';

/** Milliseconds until a job without an order is left to control-plane, which adds it again. */
const ORDER_WAIT_MS = 60_000;
/** Another builder was at work a moment ago: it may just have been killed. */
const TAKEN = 409;
/** Milliseconds in which that shows. control-plane then adds another job. */
const TAKEN_WAIT_MS = 8_000;

export interface BuildJobsOptions extends Omit<BuildSessionOptions, 'client'> {
  client: Pick<ControlPlaneClient, 'order' | 'report' | 'end'>;
  metrics: BuildMetrics;
}

/** Works on the jobs of this builder. Builds of one deployment share folders and a user, so they follow each other. */
export class BuildJobs {
  readonly #options: BuildJobsOptions;
  readonly #sessions = new Set<BuildSession>();
  /** The end of the last job of each deployment. */
  readonly #ends = new Map<string, Promise<void>>();
  /** The revisions that are being built. */
  readonly #building = new Set<string>();
  readonly #stopping = new AbortController();

  constructor(options: BuildJobsOptions) {
    this.#options = options;
  }

  /**
   * Does nothing for a revision that is being built here: the queue gives a job again whose builder was slow to say that
   * it lives, and it would keep a place from other builds until this one ends.
   *
   * @param addedAt milliseconds since 1970, when the job was put into the queue
   */
  async run(job: BuildJob, addedAt: number): Promise<void> {
    const { deployment_id: id, revision_id: revisionId } = job;
    if (this.#building.has(revisionId)) return;
    this.#options.metrics.taken(addedAt);
    const before = this.#ends.get(id) ?? Promise.resolve();
    const end = before.then(() => this.#run(job));
    const settled = end.catch(() => undefined);
    this.#ends.set(id, settled);
    try {
      await end;
    } finally {
      if (this.#ends.get(id) === settled) this.#ends.delete(id);
    }
  }

  /** Ends all builds: other builders go on with them. */
  stop(): void {
    this.#stopping.abort(new Error('stopped'));
    for (const session of this.#sessions) session.stop();
  }

  async #run({ order_url: url, revision_id: revisionId }: BuildJob): Promise<void> {
    const { logger } = this.#options;
    if (this.#stopping.signal.aborted) return;
    const takenUntil = performance.now() + TAKEN_WAIT_MS;
    const answer = await withDeadline(this.#stopping.signal, ORDER_WAIT_MS, (signal) =>
      retry(signal, () => this.#order(url, takenUntil, signal)),
    ).catch((error: unknown) => logger.warn('build not ordered', { revisionId, error }));
    if (!answer?.order) return;
    const session = new BuildSession(answer.order, { ...this.#options, work: this.#build });
    this.#sessions.add(session);
    if (this.#stopping.signal.aborted) session.stop();
    try {
      await this.#options.metrics.measure(() => session.run());
    } finally {
      this.#sessions.delete(session);
    }
  }

  readonly #build: BuildJobsOptions['work'] = async (order, context) => {
    this.#building.add(order.revision_id);
    try {
      return await this.#options.work(order, context);
    } finally {
      this.#building.delete(order.revision_id);
    }
  };

  async #order(url: string, takenUntil: number, signal: AbortSignal) {
    try {
      return await this.#options.client.order(url, signal);
    } catch (error) {
      const isTaken = error instanceof OrderRefusedError && error.status === TAKEN;
      throw isTaken && performance.now() < takenUntil ? new Error(error.message) : error;
    }
  }
}
