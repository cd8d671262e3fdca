import type { Sample, SampleStore } from '../monitoring/sample-store.ts';
import type { ControlPlaneClient } from './control-plane-client.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';

/** Of all deployments together; the oldest go when the line is down for long. */
const WAITING_MAX = 5_000;
const PER_REQUEST = 500;

/** What is measured here, sent to where it is looked at. Samples are told apart by their time: sent twice, they count once. */
export class ForwardedSamples implements Pick<SampleStore, 'insert' | 'removeBefore'> {
  readonly #client: ControlPlaneClient;
  readonly #link: Pick<ControlPlaneLink, 'ask'>;
  #waiting: Sample[] = [];

  constructor(options: { client: ControlPlaneClient; link: Pick<ControlPlaneLink, 'ask'> }) {
    this.#client = options.client;
    this.#link = options.link;
  }

  /** @throws what kept them from being sent; they are sent with the next ones */
  async insert(samples: Sample[]): Promise<void> {
    this.#waiting = [...this.#waiting, ...samples].slice(-WAITING_MAX);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, PER_REQUEST);
      await this.#link.ask((epoch, signal) =>
        this.#client.reportMetrics({ epoch, samples: batch.map(reportOf) }, signal),
      );
      this.#waiting = this.#waiting.slice(batch.length);
    }
  }

  /** Kept elsewhere, for as long as is said there. */
  async removeBefore(): Promise<void> {}
}

function reportOf({ deploymentId, takenAt, figures }: Sample) {
  return { deployment_id: deploymentId, point: { time: takenAt.toISOString(), ...figures } };
}
