import { once } from 'node:events';
import type { BuildJob } from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import type { BuildMetrics } from './build-metrics.ts';
import { BuildSession, type BuildSessionOptions, retry, type Work } from './build-session.ts';
import { type ControlPlaneClient, OrderRefusedError } from './control-plane-client.ts';

/** Milliseconds until a job that gets no order, or may not begin, is left to control-plane, which adds it again. */
const ORDER_WAIT_MS = 60_000;
/** Another builder was at work a moment ago: it may just have been killed. */
const TAKEN = 409;
/** Milliseconds in which that shows. control-plane then adds another job. */
const TAKEN_WAIT_MS = 8_000;

export interface BuildJobsOptions extends Omit<BuildSessionOptions, 'client'> {
  client: Pick<ControlPlaneClient, 'order' | 'report' | 'end'>;
  metrics: BuildMetrics;
}

/** Works on the jobs of this builder. Builds of one deployment share a user, so they follow each other. */
export class BuildJobs {
  readonly #options: BuildJobsOptions;
  readonly #sessions = new Set<BuildSession>();
  /** The end of the last job of each deployment. */
  readonly #ends = new Map<string, Promise<void>>();
  /** Work for each deployment. It may outlast its session, which gives it up some time after its abortion. */
  readonly #working = new Map<string, { revisionId: string; signal: AbortSignal; settled: Promise<void> }>();
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
    const working = this.#working.get(id);
    if (working?.revisionId === revisionId && !working.signal.aborted) return;
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

  async #run({ deployment_id: id, order_url: url, revision_id: revisionId }: BuildJob): Promise<void> {
    const { logger } = this.#options;
    if (this.#stopping.signal.aborted) return;
    const answer = await withDeadline(this.#stopping.signal, ORDER_WAIT_MS, async (signal) => {
      await Promise.race([this.#working.get(id)?.settled, once(signal, 'abort')]);
      const takenUntil = performance.now() + TAKEN_WAIT_MS;
      return retry(signal, () => this.#order(url, takenUntil, signal));
    }).catch((error: unknown) => logger.warn('build not ordered', { revisionId, error }));
    if (!answer?.order) return;
    const session = new BuildSession(answer.order, { ...this.#options, work: this.#work });
    this.#sessions.add(session);
    if (this.#stopping.signal.aborted) session.stop();
    try {
      await this.#options.metrics.measure(() => session.run());
    } finally {
      this.#sessions.delete(session);
    }
  }

  readonly #work: Work = (order, context) => {
    const { deployment_id: id, revision_id: revisionId } = order;
    const work = this.#options.work(order, context);
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    this.#working.set(id, { revisionId, signal: context.signal, settled });
    void settled.then(() => this.#working.delete(id));
    return work;
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
