import { setTimeout as pause } from 'node:timers/promises';
import type { DesiredDeployment, PodRules } from '@runyard/contracts';
import type { Logger } from '@runyard/service-kit';
import { type ControlPlaneClient, ControlPlaneRefusedError } from './control-plane-client.ts';

export interface ControlPlaneLinkOptions {
  client: ControlPlaneClient;
  /** Identifies this data plane as long as it keeps its data. */
  instanceId: string;
  version: string;
  /** The base URL of its deployments for clients; null when it is not known. */
  publicUrl: string | null;
  /** The fields of pods that deployments may choose; null when it runs no pods. */
  podRules: PodRules | null;
  /** Called with the desired state whenever it has changed. */
  onDesired(deployments: DesiredDeployment[]): Promise<void>;
  /**
   * Called when another data plane has the lease, or the listener was deleted: then nothing may run here. Absent for the
   * platform's own data planes, which nobody can delete: they lose single deployments.
   */
  onLost?(refusal: ControlPlaneRefusedError): void;
  /** Called when the control plane was unavailable and is available again. */
  onRegained?(): void;
  logger: Logger;
}

const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;
/** Seconds that one request waits for a change at most. A lease is renewed by at least three requests. */
const WAIT_SECONDS_MAX = 25;
const ANSWER_MS = 10_000;
/** An answer within these milliseconds did not wait. */
const AT_ONCE_MS = 500;
/**
 * Pause after such an answer. A few in a row are changes that come close together. More of them come from instances of
 * the control plane that disagree, for example during an update, and would cause requests without end.
 */
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const CLOSE_TOGETHER = 3;

/**
 * Connects this data plane to the control plane, over connections that it opens itself. While the control plane cannot
 * be reached, reports wait and the desired state stays as it was.
 */
export class ControlPlaneLink {
  readonly #options: ControlPlaneLinkOptions;
  /** Aborts waits: for changes, and between attempts. */
  readonly #waiting = new AbortController();
  /** Aborts every request. */
  readonly #stopping = new AbortController();
  #epoch: number | undefined;
  #takingLease: Promise<number> | undefined;
  #waitSeconds = 0;
  /** Milliseconds for an answer beyond that wait: a connection that is dead must not cost the lease. */
  #answerMs = ANSWER_MS;
  /** The version of the last desired state. */
  #known: string | undefined;
  #following: Promise<void> = Promise.resolve();
  #renewals: NodeJS.Timeout | undefined;
  /** The number of accepted reports. */
  #statusesSent = 0;
  #isDown = false;
  #hasBegun = false;

  constructor(options: ControlPlaneLinkOptions) {
    this.#options = options;
  }

  /**
   * Resolves when this data plane has the lease and the desired state, or when the control plane cannot be reached: then
   * the stored state counts. While another data plane has the lease, it waits.
   *
   * @returns false when the desired state is not known to be the present one
   */
  async begin(): Promise<boolean> {
    const { signal } = this.#waiting;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        await this.#readDesired(0);
        this.#hasBegun = true;
        return true;
      } catch (error) {
        await this.#handleFailure(error, attempt);
        if (!isLeaseLost(error)) break;
      }
    }
    this.#hasBegun = true;
    return false;
  }

  start(): void {
    this.#following = this.#follow();
  }

  /**
   * Follows no changes any more, and gives up reports that wait. Each later request is tried once. The lease is renewed
   * until the end: while something still runs here, nobody else may start it.
   */
  async beginStop(): Promise<void> {
    this.#waiting.abort(new Error('The data plane stops'));
    await this.#following;
    const renew = () =>
      this.sendOnce((epoch, signal) => this.#options.client.reportMetrics({ epoch, samples: [] }, signal));
    this.#renewals = setInterval(() => void renew().catch(() => undefined), this.#waitSeconds * 1000).unref();
  }

  /**
   * Ends the lease before its time, so that other data planes of the platform take up the deployments at once.
   *
   * @returns false when that was not possible
   */
  async release(): Promise<boolean> {
    clearInterval(this.#renewals);
    const epoch = this.#epoch;
    this.#epoch = undefined;
    if (epoch === undefined) return false;
    try {
      await this.#options.client.releaseLease(epoch, this.#stopping.signal);
      return true;
    } catch (error) {
      this.#options.logger.warn('lease not released, others wait for its end', { error });
      return false;
    }
  }

  stop(): void {
    clearInterval(this.#renewals);
    this.#stopping.abort(new Error('The data plane stops'));
  }

  /**
   * Sends a report until it is accepted.
   *
   * @throws RefusedError when its subject does not exist; the signal's reason when this data plane stops
   */
  async sendStatus<T>(request: (epoch: number, signal: AbortSignal) => Promise<T>): Promise<T> {
    const answer = await this.sendUntilAccepted(request);
    this.#statusesSent += 1;
    return answer;
  }

  /**
   * Sends frequent reports that do not affect the desired state, until they are accepted.
   *
   * @param interrupted gives up between attempts
   */
  async sendUntilAccepted<T>(
    request: (epoch: number, signal: AbortSignal) => Promise<T>,
    interrupted?: AbortSignal,
  ): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await request(await this.#ensureLease(), this.#stopping.signal);
        this.#markReachable();
        return answer;
      } catch (error) {
        if (this.#waiting.signal.aborted) throw error;
        interrupted?.throwIfAborted();
        if (error instanceof ControlPlaneRefusedError && error.status === 404) throw error;
        await this.#handleFailure(error, attempt);
      }
    }
  }

  /** Sends a request once, for a caller who does not wait. @throws the error of the failed request */
  async sendOnce<T>(request: (epoch: number, signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#epoch === undefined) throw new Error('This data plane has no lease of its listener');
    return request(this.#epoch, this.#stopping.signal);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#waiting;
    let atOnce = 0;
    for (let attempt = 0; !signal.aborted; ) {
      try {
        const askedAt = performance.now();
        if (!(await this.#readDesired(this.#waitSeconds))) {
          // A burst of reports is not asked about as often as it reports.
          await pause(PAUSE_MS, undefined, { signal });
          continue;
        }
        attempt = 0;
        atOnce = performance.now() - askedAt < AT_ONCE_MS ? atOnce + 1 : 0;
        if (atOnce > 0) {
          await pause(Math.min(PAUSE_MS * 2 ** Math.max(0, atOnce - CLOSE_TOGETHER), LONGEST_PAUSE_MS), undefined, {
            signal,
          });
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ControlPlaneRefusedError && error.status === 404) this.#options.onLost?.(error);
        await this.#handleFailure(error, attempt);
        attempt += 1;
      }
    }
  }

  /**
   * Passes on the desired state if it has changed.
   *
   * @returns false when reports were accepted meanwhile, which the answer may not include: it has to be requested again
   */
  async #readDesired(waitSeconds: number): Promise<boolean> {
    const { client, onDesired } = this.#options;
    const epoch = await this.#ensureLease();
    const said = this.#statusesSent;
    const request = { epoch, since: this.#known, waitSeconds, answerMs: this.#answerMs };
    const state = await client.desiredState(request, this.#waiting.signal);
    this.#markReachable();
    if (this.#statusesSent !== said) return false;
    if (state) {
      await onDesired(state.deployments);
      this.#known = state.resource_version;
    }
    return true;
  }

  #ensureLease(): Promise<number> {
    if (this.#epoch !== undefined) return Promise.resolve(this.#epoch);
    this.#takingLease ??= this.#takeLease().finally(() => {
      this.#takingLease = undefined;
    });
    return this.#takingLease;
  }

  async #takeLease(): Promise<number> {
    const { client, instanceId, version, publicUrl, podRules, onLost } = this.#options;
    const said = { instance_id: instanceId, version, public_url: publicUrl, pod_rules: podRules };
    try {
      const lease = await client.takeLease(said, this.#stopping.signal);
      this.#waitSeconds = Math.min(WAIT_SECONDS_MAX, lease.lease_seconds / 3);
      this.#answerMs = Math.min(ANSWER_MS, (lease.lease_seconds * 1000) / 3);
      this.#epoch = lease.epoch;
      return lease.epoch;
    } catch (error) {
      if (this.#hasBegun && isLeaseLost(error)) onLost?.(error);
      throw error;
    }
  }

  async #handleFailure(error: unknown, attempt: number): Promise<void> {
    if (error instanceof ControlPlaneRefusedError && error.isStale) this.#epoch = undefined;
    if (!this.#isDown) {
      this.#isDown = true;
      this.#options.logger.warn('control plane unavailable, will retry', { error });
    }
    const inMs = Math.min(FIRST_RETRY_MS * 2 ** attempt, LONGEST_RETRY_MS);
    await pause(inMs * (0.75 + Math.random() / 2), undefined, { signal: this.#waiting.signal }).catch(() => undefined);
  }

  #markReachable(): void {
    if (!this.#isDown) return;
    this.#isDown = false;
    this.#options.logger.info('control plane available again');
    this.#options.onRegained?.();
  }
}

/** Returns whether another data plane has the lease, or the listener was deleted. */
function isLeaseLost(error: unknown): error is ControlPlaneRefusedError {
  return error instanceof ControlPlaneRefusedError && (error.isStale || error.status === 404);
}
