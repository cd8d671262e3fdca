import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@runyard/service-kit';
import { withLastLines } from '../../logs/last-lines.ts';
import type { OpenRevisionLog, RevisionLog } from '../../logs/revision-log.ts';
import { type RevisionSpec, type RunningRevision, StartFailure, type StartOptions } from '../driver.ts';
import type { ChildOptions, Launched } from './child.ts';
import { withDeadline } from './deadline.ts';
import { type KeepingTimings, KeptService, type Place } from './kept-service.ts';

/** One service of a revision; each role has one or more. */
export interface Part {
  role: 'agent-api' | 'run-worker';
  /** Among the parts of the revision: `agent-api`, `run-worker-2`. */
  name: string;
}

/** Starts the parts of one revision, each as often as it has to be. */
export interface Launcher {
  hasCustomAuth: boolean;
  /** How long workers may go on after they were asked to end. */
  graceMs: number;
  findPlace(part: Part): Promise<Place>;
  launch(part: Part, place: Place, onLine: ChildOptions['onLine']): Launched;
}

export interface KeepingOptions {
  openLog: OpenRevisionLog;
  logger: Logger;
  timings?: Partial<KeepingTimings>;
}

/** Beside its grace a process gets this long: to take the last requests, and to close what it has open. */
const CLOSING_MS = 10_000;
/** How long a replaced agent-api goes on answering those who have not heard yet that there is a new one. */
const FOLLOW_MS = 2_000;

/**
 * Starts all parts of a revision and keeps them running. What `prepare` takes counts as a part of the start.
 *
 * @throws StartFailure with the last lines of the revision's log
 */
export async function startRevision(
  spec: RevisionSpec,
  { signal: outer, timeoutMs, onUpstreams }: StartOptions,
  options: KeepingOptions,
  prepare: (log: RevisionLog, signal: AbortSignal) => Promise<Launcher>,
): Promise<RunningRevision> {
  const { deploymentId, revisionId } = spec;
  const secrets = [...Object.values(spec.secrets), new URL(spec.databaseUri).password];
  const log = await options.openLog({ deploymentId, revisionId, kind: 'deploy' }, { secrets });
  let revision: KeptRevision | undefined;
  try {
    return await withDeadline(outer, timeoutMs, async (signal) => {
      const launcher = await prepare(log, signal);
      revision = new KeptRevision(spec, launcher, options, log, onUpstreams);
      await revision.start(signal);
      return revision;
    });
  } catch (error) {
    await (revision ? revision.stop(0) : log.close());
    throw error instanceof StartFailure ? new StartFailure(withLastLines(error.message, log), { cause: error }) : error;
  }
}

class KeptRevision implements RunningRevision {
  readonly revisionId: string;
  readonly hasCustomAuth: boolean;
  readonly #agentApis: KeptService[];
  readonly #workers: KeptService[];
  readonly #log: RevisionLog;
  readonly #graceMs: number;
  readonly #isFirst: boolean;
  readonly #stopping = new AbortController();
  /** Where each agent-api answers, while it does. */
  readonly #urls: (string | null)[];

  constructor(
    spec: RevisionSpec,
    launcher: Launcher,
    { logger: parent, timings }: KeepingOptions,
    log: RevisionLog,
    onUpstreams: (urls: string[]) => void,
  ) {
    const { resources } = spec;
    this.revisionId = spec.revisionId;
    this.hasCustomAuth = launcher.hasCustomAuth;
    this.#isFirst = spec.isFirst;
    this.#log = log;
    this.#graceMs = launcher.graceMs;
    const logger = parent.child({ deploymentId: spec.deploymentId, revisionId: spec.revisionId });
    const keep = (part: Part, onUrl: (url: string | null) => void) =>
      new KeptService({
        name: part.name,
        logger,
        timings,
        onUrl,
        findPlace: () => launcher.findPlace(part),
        launch: (place) =>
          launcher.launch(part, place, (line, stream) =>
            log.write(line, { source: part.name, level: stream === 'stderr' ? 'ERROR' : 'INFO' }),
          ),
      });
    const apis = resources.min_scale ?? 1;
    this.#urls = Array.from({ length: apis }, () => null);
    this.#agentApis = this.#urls.map((_none, index) =>
      keep({ role: 'agent-api', name: numbered('agent-api', index, apis) }, (url) => {
        this.#urls[index] = url;
        onUpstreams(this.upstreams);
      }),
    );
    const workers = resources.queue_min_scale ?? 1;
    this.#workers = Array.from({ length: workers }, (_, index) =>
      keep({ role: 'run-worker', name: numbered('run-worker', index, workers) }, () => undefined),
    );
  }

  get upstreams(): string[] {
    return this.#urls.filter((url) => url !== null);
  }

  /** On a new database agent-api first, which makes the tables that workers rely on; else all at once. */
  async start(signal: AbortSignal): Promise<void> {
    const agentApis = Promise.all(this.#agentApis.map((agentApi) => agentApi.start(signal)));
    if (this.#isFirst) await agentApis;
    await Promise.all([agentApis, ...this.#workers.map((worker) => worker.start(signal))]);
  }

  async drain(): Promise<void> {
    // Clients of runs under way stay connected to the old agent-api until its workers are through.
    const followed = pause(FOLLOW_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    await Promise.all([followed, ...this.#workers.map((worker) => worker.stop(this.#graceMs + CLOSING_MS))]);
    await Promise.all(this.#agentApis.map((agentApi) => agentApi.stop(this.#graceMs + CLOSING_MS)));
    await this.#log.close();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#agentApis, ...this.#workers].map((service) => service.stop(graceMs)));
    await this.#log.close();
  }
}

function numbered(name: string, index: number, count: number): string {
  return count === 1 ? name : `${name}-${index + 1}`;
}
