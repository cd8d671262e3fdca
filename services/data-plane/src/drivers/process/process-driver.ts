import type { ReplicaRole } from '@runyard/deployments';
import { freePort } from '@runyard/service-kit';
import { graceSecondsOf, type PlatformSettings } from '../deployment-variables.ts';
import type { RevisionSpec, RevisionStartOptions, RunningRevision } from '../driver.ts';
import type { OpenDriver } from '../driver-row.ts';
import { Child } from './child.ts';
import { childVariables, processEnvironment, variablesOfBoth } from './child-environment.ts';
import type { SupervisionOptions } from './launcher.ts';
import type { ProjectUsers } from './project-users.ts';
import { Standbys } from './standbys.ts';
import { startRevision } from './start-revision.ts';

export interface ProcessDriverOptions extends SupervisionOptions {
  /** The users that run projects; null: this service's user. */
  users: ProjectUsers | null;
  agentApiEntry: string;
  runWorkerEntry: string;
  /** The entry of both in one process; undefined: each has its own. */
  togetherEntry: string | undefined;
  /** True to have the code of both loaded before any deployment asks for it. */
  standsBy?: boolean;
  platform: PlatformSettings;
}

/** Waits for whichever deployment comes first. */
const FIRST = 'first';

/**
 * Runs a revision as child processes of this one: one or more of agent-api and of run-worker. Once a project that is run
 * in its folder has been edited, a process is kept that has the code of both loaded: loading it is the half of an edit
 * that is not the project's own.
 */
export class ProcessDriver implements OpenDriver {
  readonly #options: ProcessDriverOptions;
  readonly #standbys: Standbys;
  /** Deployments of folders that were started here. */
  readonly #started = new Set<string>();

  constructor(options: ProcessDriverOptions) {
    this.#options = options;
    this.#standbys = new Standbys(
      () => new Child({ entry: options.togetherEntry!, env: processEnvironment(), hasGrace: true }),
    );
    if (options.togetherEntry !== undefined && options.standsBy) this.#standbys.keep(FIRST);
  }

  async start(spec: RevisionSpec, options: RevisionStartOptions): Promise<RunningRevision> {
    if (spec.artifact.kind !== 'project') throw new Error('an image is not run as processes');
    const { project } = spec.artifact;
    const { deploymentId } = spec;
    const { platform, users, agentApiEntry, runWorkerEntry, togetherEntry } = this.#options;
    const isEdited = this.#started.has(deploymentId);
    const isInPlace = togetherEntry !== undefined && !project.isBuilt;
    if (isInPlace) this.#started.add(deploymentId);
    const started = startRevision(spec, options, this.#options, async () => {
      await users?.grantAccess(deploymentId, project.directory);
      return {
        hasCustomAuth: project.hasCustomAuth,
        graceMs: graceSecondsOf({ ...project.env, ...spec.secrets }, platform.graceSeconds) * 1000,
        sharesProcess: togetherEntry !== undefined,
        findAddress: async ({ worker }) => {
          const [port, workerPort] = [await freePort(platform.host), worker && (await freePort(platform.host))];
          return { host: platform.host, port, ...(workerPort !== undefined && { workerPort }) };
        },
        launch: ({ role, worker }, { port, workerPort }, onLine) => {
          const variablesOf = (of: ReplicaRole, at: number | undefined) => {
            const { env, secrets } = childVariables(spec, project, platform, of);
            const user = users && { GRAPH_HOST_USER: users.userOf(deploymentId) };
            return { env: { ...env, ...user, PORT: String(at) }, secrets };
          };
          const hasGrace = role === 'run-worker' || worker !== undefined;
          if (worker) {
            const [server, other] = [variablesOf('agent-api', port), variablesOf('run-worker', workerPort)];
            const { env, secrets } = variablesOfBoth(server, other);
            const waiting = this.#standbys.take(deploymentId) ?? this.#standbys.take(FIRST);
            return (waiting ?? new Child({ entry: togetherEntry!, env, hasGrace })).begin({ secrets, onLine });
          }
          const entry = role === 'agent-api' ? agentApiEntry : runWorkerEntry;
          const { env, secrets } = variablesOf(role, port);
          return new Child({ entry, env, hasGrace }).begin({ secrets, onLine });
        },
      };
    });
    // Also after an edit that does not load: the next one follows.
    const standBy = () => {
      if (isInPlace && isEdited) this.#standbys.keep(deploymentId);
    };
    started.then(standBy, standBy);
    return started;
  }

  async removeLeftovers(deploymentId: string): Promise<void> {
    this.#standbys.end(deploymentId);
    this.#started.delete(deploymentId);
    await this.#options.users?.clear(deploymentId);
  }
}
