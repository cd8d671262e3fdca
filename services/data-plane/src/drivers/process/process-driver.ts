import type { ReplicaRole } from '@runyard/deployments';
import { freePort } from '@runyard/service-kit';
import { graceSecondsOf, type PlatformSettings } from '../deployment-variables.ts';
import type { RevisionSpec, RevisionStartOptions, RunningRevision } from '../driver.ts';
import type { OpenDriver } from '../driver-row.ts';
import { Child } from './child.ts';
import { childVariables, variablesOfBoth } from './child-environment.ts';
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
            return new Child({ entry: togetherEntry!, ...variablesOfBoth(server, other), hasGrace, onLine });
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
