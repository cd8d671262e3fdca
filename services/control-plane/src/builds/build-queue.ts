import type { BuildSender } from '@runyard/build-queue';
import type { BuildJob } from '@runyard/contracts';
import type { Revision } from '../generated/client.ts';
import type { BuildUrls } from './build-urls.ts';

/** Puts revisions into the queue of builds. The rows own the truth: a lost or repeated job costs nothing but time. */
export class BuildQueue {
  readonly #sender: BuildSender;
  readonly #urls: BuildUrls;

  constructor({ sender, urls }: { sender: BuildSender; urls: BuildUrls }) {
    this.#sender = sender;
    this.#urls = urls;
  }

  /** Adds the revision unless it is there. */
  add({ id, deploymentId, buildEpoch }: Revision): Promise<void> {
    const job: BuildJob = {
      revision_id: id,
      deployment_id: deploymentId,
      order_url: this.#urls.make('order', id, 0),
    };
    // After each order it is another job: the one before may not have left the queue yet.
    return this.#sender.add(job, { jobId: `${id}-${buildEpoch}` });
  }
}
