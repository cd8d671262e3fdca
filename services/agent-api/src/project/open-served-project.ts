import { type DataCipher, openDataCipher } from '@runyard/encryption';
import { type HostUser, hostUserOf, logOfProject, type SharedHost, startGraphHost } from '@runyard/host-client';
import { openProject, type Project } from '@runyard/project';
import type { ServiceContext } from '@runyard/service-kit';
import { hasUserCredentials } from '../auth/user-credentials.ts';
import type { Config } from '../config.ts';
import { ProjectEncryption } from '../encryption/project-encryption.ts';
import { type HostKeeper, ProjectHost } from './project-host.ts';
import { ProjectLoopback } from './project-loopback.ts';
import { refuseUnmetProtection } from './refused-settings.ts';
import { SupervisedGraphHost } from './supervised-graph-host.ts';
import { WorkersHost } from './workers-host.ts';

export interface ServedProject {
  project: Project;
  /** The whole environment of the project's code. */
  environment: Record<string, string>;
  /** The user that runs the project's code; undefined for this process's user. */
  user: HostUser | undefined;
  cipher: DataCipher;
  /** Undefined for a project without `encryption.path`. */
  encryption: ProjectEncryption | undefined;
  /** This server, as the project's code reaches it. */
  loopback: ProjectLoopback;
  host: ProjectHost;
  /** Rejects with a GraphLoadError when the project's code does not load. */
  loaded: Promise<void>;
}

const SILENT_SECONDS = 60;

/**
 * Opens the project of the deployment. Its code is still loading when this resolves, so that other parts open
 * meanwhile.
 *
 * @param shared the host of a worker in this process; undefined: this server has one of its own
 * @throws GraphLoadError when its settings cannot be served, EncryptionError for invalid keys
 */
export async function openServedProject(
  config: Config,
  context: ServiceContext,
  shared: SharedHost | undefined,
): Promise<ServedProject> {
  const { logger, lifecycle } = context;
  const { project, encryption: variables, ...location } = await openProject(config, process.env);
  const user = hostUserOf(config.GRAPH_HOST_USER);
  for (const warning of project.warnings) logger.warn(warning);
  refuseUnmetProtection(project, variables);
  const isForUser = project.auth ? hasUserCredentials(location.environment) : undefined;
  const loopback = await ProjectLoopback.open(user, isForUser);
  const environment = loopback.folder.withHome(location.environment);
  lifecycle.onStop('project loopback', () => loopback.close());
  const keeper: HostKeeper = shared
    ? new WorkersHost(shared, lifecycle)
    : new SupervisedGraphHost({
        logger,
        unresponsiveAfterMs: (config.GRAPH_HOST_SILENT_SECONDS ?? SILENT_SECONDS) * 1000,
        start: (onExit) =>
          startGraphHost({
            ...location,
            environment,
            user,
            loopback: loopback.endpoint,
            publicUrl: config.LANGGRAPH_API_URL,
            ...(config.GRAPH_HOST_HEAP_MB !== undefined && { heapLimitMb: config.GRAPH_HOST_HEAP_MB }),
            onLog: logOfProject(logger),
            onExit,
          }),
      });
  shared?.offerLoopback(loopback.endpoint);
  const host = new ProjectHost(keeper);
  lifecycle.onStop('graph host', () => host.close());
  const encryption = project.encryption
    ? new ProjectEncryption({ source: project.encryption, host, variables, config, context })
    : undefined;
  const cipher = encryption?.cipher ?? openDataCipher(variables);
  const loaded = host.start();
  loaded.catch(() => undefined); // The caller awaits it later; until then other parts may fail first.
  return { project, environment, user, cipher, encryption, loopback, host, loaded };
}
