import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@runyard/service-kit';
import { describeEntry } from '../../logs/log-entry.ts';
import type { OpenRevisionLog, RevisionLog } from '../../logs/revision-log.ts';
import type { LocalProject } from '../../sources/local-directory.ts';
import { type Driver, type RevisionSpec, type RunningRevision, StartFailure, type StartOptions } from '../driver.ts';
import { Child } from './child.ts';
import { childVariables, graceSecondsOf, type PlatformSettings } from './child-environment.ts';
import { withDeadline } from './deadline.ts';
import { type KeepingTimings, KeptService } from './kept-service.ts';

export interface ProcessDriverOptions {
  agentApiEntry: string;
  runWorkerEntry: string;
  openLog: OpenRevisionLog;
  platform: PlatformSettings;
  logger: Logger;
  timings?: Partial<KeepingTimings>;
}

/** Beside its grace a process gets this long: to take the last requests, and to close what it has open. */
const CLOSING_MS = 10_000;
/** How long a replaced agent-api goes on answering those who have not heard yet that there is a new one. */
const FOLLOW_MS = 2_000;
const FAILED_LOG_LINES = 15;

/** Runs a revision as processes of this machine, children of this one: one or more of agent-api and of run-worker. */
export class ProcessDriver implements Driver {
  readonly #options: ProcessDriverOptions;

  constructor(options: ProcessDriverOptions) {
    this.#options = options;
  }

  async start(spec: RevisionSpec, options: StartOptions): Promise<RunningRevision> {
    if (spec.artifact.kind !== 'project') throw new Error('an image is not run as processes');
    const { project } = spec.artifact;
    const { deploymentId, revisionId } = spec;
    const secrets = [...Object.values(spec.secrets), new URL(spec.databaseUri).password];
    const log = await this.#options.openLog({ deploymentId, revisionId, kind: 'deploy' }, { secrets });
    const revision = new ProcessRevision(spec, project, this.#options, log, options.onUpstreams);
    try {
      await withDeadline(options.signal, options.timeoutMs, (signal) => revision.start(signal));
      return revision;
    } catch (error) {
      await revision.stop(0);
      throw error instanceof StartFailure ? withLog(error, log) : error;
    }
  }
}

class ProcessRevision implements RunningRevision {
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
    project: LocalProject,
    options: ProcessDriverOptions,
    log: RevisionLog,
    onUpstreams: (urls: string[]) => void,
  ) {
    const { platform, timings } = options;
    const { resources } = spec;
    this.revisionId = spec.revisionId;
    this.hasCustomAuth = project.hasCustomAuth;
    this.#isFirst = spec.isFirst;
    this.#log = log;
    this.#graceMs = graceSecondsOf({ ...project.env, ...spec.secrets }, platform.graceSeconds) * 1000;
    const logger = options.logger.child({ deploymentId: spec.deploymentId, revisionId: spec.revisionId });
    const keep = (
      name: string,
      entry: string,
      heapMb: number | null | undefined,
      onUrl: (url: string | null) => void,
    ) => {
      const { env, secrets } = childVariables(spec, project, platform, heapMb);
      return new KeptService({
        name,
        logger,
        timings,
        host: platform.host,
        onUrl,
        launch: (port) =>
          new Child({
            entry,
            env: { ...env, PORT: String(port) },
            secrets,
            onLine: (line, stream) => log.write(line, { source: name, level: stream === 'stderr' ? 'ERROR' : 'INFO' }),
          }),
      });
    };
    const apis = resources.min_scale ?? 1;
    this.#urls = Array.from({ length: apis }, () => null);
    this.#agentApis = this.#urls.map((_none, index) =>
      keep(numbered('agent-api', index, apis), options.agentApiEntry, resources.memory_mb, (url) => {
        this.#urls[index] = url;
        onUpstreams(this.upstreams);
      }),
    );
    const workers = resources.queue_min_scale ?? 1;
    this.#workers = Array.from({ length: workers }, (_, index) =>
      keep(
        numbered('run-worker', index, workers),
        options.runWorkerEntry,
        resources.queue_memory_mb ?? resources.memory_mb,
        () => undefined,
      ),
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

/** What the owner of a failed revision needs to see. */
function withLog(failure: StartFailure, log: RevisionLog): StartFailure {
  const lines = log.recent(FAILED_LOG_LINES).map((entry) => `  ${describeEntry(entry)}`);
  const text = [`${failure.message}.`, ...(lines.length > 0 ? ['The last lines of its log:', ...lines] : [])].join(
    '\n',
  );
  return new StartFailure(text, { cause: failure });
}
