import { finished } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { eachLine } from '@runyard/revision-logs';
import { type ClusterApi, ClusterRefusedError } from './cluster-api.ts';
import { serviceStatus } from './pod-state.ts';

const RETRY_MS = 1_000;

/** One run of a pod's container. A container that restarts has several, one after the other. */
interface ContainerRun {
  id: string;
  pod: string;
  container: string;
  /** True when it has ended, and another one runs in its place. */
  isPrevious: boolean;
  /** The time from which lines are read; undefined for all lines. */
  since: Date | undefined;
}

/**
 * Follows the output of the services of pods: of every container from its first line, including those that have ended.
 */
export class PodLogs {
  readonly #api: ClusterApi;
  readonly #onLine: (pod: V1Pod, line: string) => void;
  /** The process that supervised the pods before has stored the lines until this time. */
  readonly #since: Date | undefined;
  /** Readers by the id of the container. */
  readonly #followed = new Map<string, Promise<void>>();
  /** The running container, by pod. */
  readonly #current = new Map<string, string | undefined>();
  readonly #stopping = new AbortController();

  constructor(api: ClusterApi, since: Date | undefined, onLine: (pod: V1Pod, line: string) => void) {
    this.#api = api;
    this.#since = since;
    this.#onLine = onLine;
  }

  /** Has to be called with every change of the pod. */
  observe(pod: V1Pod): void {
    const { state, lastState, containerID } = serviceStatus(pod) ?? {};
    this.#current.set(pod.metadata!.name!, state?.running && containerID);
    if (lastState?.terminated) this.#follow(pod, lastState.terminated, state?.running !== undefined);
    if (state?.terminated) this.#follow(pod, state.terminated, false);
    if (state?.running) this.#follow(pod, { containerID, startedAt: state.running.startedAt }, false);
  }

  /** Resolves when all output of ended containers was read, or after `timeoutMs`. */
  async waitUntilRead(timeoutMs: number): Promise<void> {
    const abort = new AbortController();
    const late = pause(timeoutMs, undefined, { signal: abort.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#followed.values()), late]);
    abort.abort();
  }

  stop(): void {
    this.#stopping.abort(new Error('stopped'));
  }

  #follow(
    pod: V1Pod,
    { containerID, startedAt, finishedAt }: { containerID?: string; startedAt?: Date; finishedAt?: Date },
    isPrevious: boolean,
  ): void {
    if (containerID === undefined || this.#followed.has(containerID) || this.#stopping.signal.aborted) return;
    const isBefore = (time: Date | undefined) =>
      this.#since !== undefined && time !== undefined && new Date(time) < this.#since;
    if (isBefore(finishedAt)) return;
    const since = isBefore(startedAt) ? this.#since : undefined;
    const run = {
      id: containerID,
      pod: pod.metadata!.name!,
      container: serviceStatus(pod)!.name,
      isPrevious,
      since,
    };
    this.#followed.set(
      containerID,
      this.#read(run, (line) => this.#onLine(pod, line)),
    );
  }

  /** Reads the output. A connection that ends before its container is reopened from about the same time. */
  async #read(run: ContainerRun, onLine: (line: string) => void): Promise<void> {
    const { signal } = this.#stopping;
    let { since } = run;
    while (!signal.aborted) {
      try {
        const output = await this.#open(run, since);
        since = new Date();
        eachLine(output, (line) => {
          since = new Date();
          onLine(line);
        });
        await finished(output);
        if (!this.#isRunning(run)) return;
        await pause(RETRY_MS, undefined, { signal });
        if (!this.#isRunning(run)) return;
      } catch (error) {
        // The output was deleted with its pod, or can never be read.
        if (error instanceof ClusterRefusedError && !error.isPassing) return;
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #isRunning({ pod, id }: ContainerRun): boolean {
    return this.#current.get(pod) === id;
  }

  #open({ pod, container, isPrevious }: ContainerRun, since: Date | undefined) {
    const query = {
      container,
      ...(isPrevious ? { previous: 'true' } : { follow: 'true' }),
      ...(since && { sinceTime: since.toISOString() }),
    };
    return this.#api.open(`${this.#api.pathOf('Pod', pod)}/log`, query, this.#stopping.signal);
  }
}
