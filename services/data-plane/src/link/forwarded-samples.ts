import type { Sample, SampleSink } from '@runyard/deployments';
import type { ControlPlaneClient } from './control-plane-client.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';

/** Samples of all deployments that may wait. Beyond it the oldest are dropped. */
const WAITING_MAX = 5_000;
const PER_REQUEST = 500;

/** Forwards samples to the control plane. A sample is identified by its time, so sending it twice does no harm. */
export class ForwardedSamples implements SampleSink {
  readonly #client: ControlPlaneClient;
  readonly #link: Pick<ControlPlaneLink, 'sendOnce'>;
  #waiting: Sample[] = [];

  constructor(options: { client: ControlPlaneClient; link: Pick<ControlPlaneLink, 'sendOnce'> }) {
    this.#client = options.client;
    this.#link = options.link;
  }

  /** @throws the error of a failed request; the samples are sent with the next ones */
  async insert(samples: Sample[]): Promise<void> {
    this.#waiting = [...this.#waiting, ...samples].slice(-WAITING_MAX);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, PER_REQUEST);
      await this.#link.sendOnce((epoch, signal) =>
        this.#client.reportMetrics({ epoch, samples: batch.map(reportOf) }, signal),
      );
      this.#waiting = this.#waiting.slice(batch.length);
    }
  }
}

function reportOf({ deploymentId, takenAt, metrics }: Sample) {
  return { deployment_id: deploymentId, point: { time: takenAt.toISOString(), ...metrics } };
}
