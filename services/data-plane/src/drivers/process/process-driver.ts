import type { ReplicaRole } from '@runyard/deployments';
import { freePort } from '@runyard/service-kit';
import { graceSecondsOf, type PlatformSettings, type ReplicaVariables } from '../deployment-variables.ts';
import type { RevisionSpec, RevisionStartOptions, RunningRevision } from '../driver.ts';
import type { OpenDriver } from '../driver-row.ts';
import { Child } from './child.ts';
import { childVariables } from './child-environment.ts';
import type { SupervisionOptions } from './launcher.ts';
import type { ProjectUsers } from './project-users.ts';
import { startRevision } from './start-revision.ts';

export interface ProcessDriverOptions extends SupervisionOptions {
  /** The users that run projects; null: this service's user. */
  users: ProjectUsers | null;
  agentApiEntry: string;
  runWorkerEntry: string;
  /** The entry of both in one process; undefined: each has its own. */
  togetherEntry: string | undefined;
  platform: PlatformSettings;
}

/** Runs a revision as child processes of this one: one or more of agent-api and of run-worker. */
export class ProcessDriver implements OpenDriver {
  readonly #options: ProcessDriverOptions;

  constructor(options: ProcessDriverOptions) {
    this.#options = options;
  }

  async start(spec: RevisionSpec, options: RevisionStartOptions): Promise<RunningRevision> {
    if (spec.artifact.kind !== 'project') throw new Error('an image is not run as processes');
    const { project } = spec.artifact;
    const { platform, users, agentApiEntry, runWorkerEntry, togetherEntry } = this.#options;
    return startRevision(spec, options, this.#options, async () => {
      await users?.grantAccess(spec.deploymentId, project.directory);
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
            const user = users && { GRAPH_HOST_USER: users.userOf(spec.deploymentId) };
            return { env: { ...env, ...user, PORT: String(at) }, secrets };
          };
          const hasGrace = role === 'run-worker' || worker !== undefined;
          if (worker) {
            const [server, other] = [variablesOf('agent-api', port), variablesOf('run-worker', workerPort)];
            return new Child({ entry: togetherEntry!, ...together(server, other), hasGrace, onLine });
          }
          const entry = role === 'agent-api' ? agentApiEntry : runWorkerEntry;
          return new Child({ entry, ...variablesOf(role, port), hasGrace, onLine });
        },
      };
    });
  }

  async removeLeftovers(deploymentId: string): Promise<void> {
    await this.#options.users?.clear(deploymentId);
  }
}

/** Returns the variables of a process that runs both: each finds its own among the secrets, under its name. */
function together(server: ReplicaVariables, worker: ReplicaVariables): ReplicaVariables {
  const heap = largerHeap(server.env, worker.env);
  const own = ({ env: { GRAPH_HOST_HEAP_MB: _limit, ...env }, secrets }: ReplicaVariables) =>
    JSON.stringify({ ...env, ...heap, ...secrets });
  const { GRAPH_HOST_HEAP_MB: _limit, ...env } = server.env;
  return { env, secrets: { 'agent-api': own(server), 'run-worker': own(worker) } };
}

/** The graph host of both has the larger limit: each may need all of its own. */
function largerHeap(...environments: Record<string, string>[]): Record<string, string> {
  const limits = environments.map(({ GRAPH_HOST_HEAP_MB: limit }) => Number(limit ?? Number.POSITIVE_INFINITY));
  const largest = Math.max(...limits);
  return Number.isFinite(largest) ? { GRAPH_HOST_HEAP_MB: String(largest) } : {};
}
