import { setTimeout as pause } from 'node:timers/promises';
import type { DesiredDeployment, PodRules } from '@runyard/contracts';
import type { Logger } from '@runyard/service-kit';
import { type ControlPlaneClient, RefusedError } from './control-plane-client.ts';

export interface ControlPlaneLinkOptions {
  client: ControlPlaneClient;
  /** The same for as long as this data plane keeps its data. */
  instanceId: string;
  version: string;
  /** Where clients reach its deployments; null: not known. */
  publicUrl: string | null;
  /** What deployments may choose of their pods; null: it runs none. */
  podRules: PodRules | null;
  /** What is to run, whenever it is different. */
  onDesired(deployments: DesiredDeployment[]): Promise<void>;
  /** Another data plane speaks for the listener, or there is no such listener any more: nothing may run here. */
  onLost(refusal: RefusedError): void;
  logger: Logger;
}

const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;
/** Longest wait for a change in one request (seconds); a lease is renewed by three at least. */
const WAIT_SECONDS_MAX = 25;
/** An answer that was there at once: it was not waited for. */
const AT_ONCE_MS = 500;
/**
 * After such an answer. As many as changes bring come close together; more of them in a row are of instances of the control
 * plane that do not agree, as while they are updated one by one, and would be asked in turn without end.
 */
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const CLOSE_TOGETHER = 3;

/**
 * What this data plane hears from the control plane and says to it, over connections that it opens itself. While the line is
 * down, what is to be said waits, and what is to run stays what it was.
 */
export class ControlPlaneLink {
  readonly #options: ControlPlaneLinkOptions;
  readonly #stopping = new AbortController();
  #epoch: number | undefined;
  #taking: Promise<number> | undefined;
  #waitSeconds = 0;
  #following: Promise<void> = Promise.resolve();
  /** Reports that are through. */
  #said = 0;
  #isDown = false;
  #hasBegun = false;

  constructor(options: ControlPlaneLinkOptions) {
    this.#options = options;
  }

  /**
   * Resolves when this data plane speaks for the listener, or its control plane cannot be reached: then what it knows holds.
   * While another one speaks for the listener, it waits.
   */
  async begin(): Promise<void> {
    const { signal } = this.#stopping;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        await this.#connected();
        break;
      } catch (error) {
        await this.#failed(error, attempt);
        if (!isLoss(error)) break;
      }
    }
    this.#hasBegun = true;
  }

  start(): void {
    this.#following = this.#follow();
  }

  /** Gives up what waits to be said. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The data plane stops'));
    await this.#following;
  }

  /**
   * Says something until it is heard.
   *
   * @throws RefusedError when the answer is that there is no such thing; the signal's reason when this data plane stops
   */
  async say<T>(request: (epoch: number, signal: AbortSignal) => Promise<T>): Promise<T> {
    const answer = await this.tell(request);
    this.#said += 1;
    return answer;
  }

  /** The same for what changes nothing of what is to run, and may be said all the time. */
  async tell<T>(request: (epoch: number, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#stopping;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await request(await this.#connected(), signal);
        this.#isHeard();
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof RefusedError && error.status === 404) throw error;
        await this.#failed(error, attempt);
      }
    }
  }

  /** Asks something once, for somebody who does not wait. @throws what kept it from being answered */
  async ask<T>(request: (epoch: number, signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#epoch === undefined) throw new Error('This data plane has no lease of its listener');
    return request(this.#epoch, this.#stopping.signal);
  }

  async #follow(): Promise<void> {
    const { client, onDesired } = this.#options;
    const { signal } = this.#stopping;
    let since: string | undefined;
    let atOnce = 0;
    for (let attempt = 0; !signal.aborted; ) {
      try {
        const epoch = await this.#connected();
        const said = this.#said;
        const askedAt = performance.now();
        const state = await client.desiredState({ epoch, since, waitSeconds: this.#waitSeconds }, signal);
        this.#isHeard();
        attempt = 0;
        // What was asked for before something was said may not know of it: it is asked for again.
        if (this.#said !== said) continue;
        atOnce = performance.now() - askedAt < AT_ONCE_MS ? atOnce + 1 : 0;
        if (state) {
          await onDesired(state.deployments);
          since = state.resource_version;
        }
        if (atOnce > 0) {
          await pause(Math.min(PAUSE_MS * 2 ** Math.max(0, atOnce - CLOSE_TOGETHER), LONGEST_PAUSE_MS), undefined, {
            signal,
          });
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof RefusedError && error.status === 404) this.#options.onLost(error);
        await this.#failed(error, attempt);
        attempt += 1;
      }
    }
  }

  #connected(): Promise<number> {
    if (this.#epoch !== undefined) return Promise.resolve(this.#epoch);
    this.#taking ??= this.#take().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #take(): Promise<number> {
    const { client, instanceId, version, publicUrl, podRules, onLost } = this.#options;
    const said = { instance_id: instanceId, version, public_url: publicUrl, pod_rules: podRules };
    try {
      const lease = await client.takeLease(said, this.#stopping.signal);
      this.#waitSeconds = Math.min(WAIT_SECONDS_MAX, lease.lease_seconds / 3);
      this.#epoch = lease.epoch;
      return lease.epoch;
    } catch (error) {
      if (this.#hasBegun && isLoss(error)) onLost(error);
      throw error;
    }
  }

  async #failed(error: unknown, attempt: number): Promise<void> {
    if (error instanceof RefusedError && error.isStale) this.#epoch = undefined;
    if (!this.#isDown) {
      this.#isDown = true;
      this.#options.logger.warn('the control plane does not answer as it should; what runs goes on', { error });
    }
    const inMs = Math.min(FIRST_RETRY_MS * 2 ** attempt, LONGEST_RETRY_MS);
    await pause(inMs * (0.75 + Math.random() / 2), undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  #isHeard(): void {
    if (!this.#isDown) return;
    this.#isDown = false;
    this.#options.logger.info('the control plane is heard again');
  }
}

/** Another data plane speaks for the listener, or there is no such listener. */
function isLoss(error: unknown): error is RefusedError {
  return error instanceof RefusedError && (error.isStale || error.status === 404);
}
