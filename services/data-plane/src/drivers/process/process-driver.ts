import { freePort } from '@runyard/service-kit';
import { graceSecondsOf, type PlatformSettings } from '../deployment-variables.ts';
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
    const { platform, users, agentApiEntry, runWorkerEntry } = this.#options;
    return startRevision(spec, options, this.#options, async () => {
      await users?.grantAccess(spec.deploymentId, project.directory);
      return {
        hasCustomAuth: project.hasCustomAuth,
        graceMs: graceSecondsOf({ ...project.env, ...spec.secrets }, platform.graceSeconds) * 1000,
        findAddress: async () => ({ host: platform.host, port: await freePort(platform.host) }),
        launch: ({ role }, { port }, onLine) => {
          const { env, secrets } = childVariables(spec, project, platform, role);
          const entry = role === 'agent-api' ? agentApiEntry : runWorkerEntry;
          const user = users && { GRAPH_HOST_USER: users.userOf(spec.deploymentId) };
          const hasGrace = role === 'run-worker';
          return new Child({ entry, env: { ...env, ...user, PORT: String(port) }, secrets, hasGrace, onLine });
        },
      };
    });
  }

  async removeLeftovers(deploymentId: string): Promise<void> {
    await this.#options.users?.clear(deploymentId);
  }
}
