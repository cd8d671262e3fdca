import type { BuildSender } from '@runyard/build-queue';
import type { BuildJob } from '@runyard/contracts';
import type { BuildStore } from './build-store.ts';
import type { BuildUrls } from './build-urls.ts';

/**
 * Puts revisions into the queue of builds: of each organization the next one, and the one after it once that is ordered.
 * So organizations take turns, however many builds one of them has, and what waits for its turn holds no builder. The
 * rows own the truth: a lost or repeated job costs nothing but time.
 */
export class BuildQueue {
  readonly #sender: Pick<BuildSender, 'add'>;
  readonly #urls: BuildUrls;
  readonly #store: Pick<BuildStore, 'findNext'>;

  constructor(options: { sender: Pick<BuildSender, 'add'>; urls: BuildUrls; store: Pick<BuildStore, 'findNext'> }) {
    this.#sender = options.sender;
    this.#urls = options.urls;
    this.#store = options.store;
  }

  /** Adds the organization's next build, unless it is there or nothing waits. */
  async addNext(organizationId: string): Promise<void> {
    const next = await this.#store.findNext(organizationId);
    if (!next) return;
    const { id, deploymentId, buildEpoch } = next;
    const job: BuildJob = {
      revision_id: id,
      deployment_id: deploymentId,
      order_url: this.#urls.make('order', id, buildEpoch),
    };
    // After each order it is another job with another URL: that of the one before has given its order.
    await this.#sender.add(job, { jobId: `${id}-${buildEpoch}` });
  }
}
