import {
  type GraphHost,
  hostUserOf,
  logOfProject,
  openLoopback,
  type SharedHost,
  SocketFolder,
  startGraphHost,
} from '@runyard/host-client';
import type { OpenProject } from '@runyard/project';
import type { ApiServers } from '@runyard/run-engine';
import type { Lifecycle, ServiceContext } from '@runyard/service-kit';
import type { Config } from '../config.ts';
import { ServerForwarder } from '../loopback/forward-to-server.ts';
import type { WaitingRuns } from '../loopback/waiting-runs.ts';
import { HostSupervisor, type HostSupervisorOptions } from './host-supervisor.ts';

const SILENT_SECONDS = 60;
const PYTHON_BLOCKED_SECONDS = 900;

export interface HostParts extends Pick<HostSupervisorOptions, 'onReady' | 'onLost'> {
  opened: Pick<OpenProject, 'project' | 'configPath' | 'environment'>;
  servers: ApiServers;
  waiting: WaitingRuns;
  /** Set where a server is in this process: the code's requests go to that one, which asks the host too. */
  shared: SharedHost | undefined;
}

/**
 * Opens the graph hosts of the worker, not started yet, and the loopback of the project's code to the deployment's own
 * server.
 */
export async function openHosts(
  config: Config,
  { logger, lifecycle }: ServiceContext,
  { opened: { project, ...location }, servers, waiting, shared, ...events }: HostParts,
): Promise<HostSupervisor> {
  const findServer = shared ? () => shared.loopback(lifecycle.stopping) : () => servers.find(config.REVISION_ID);
  const closings: Pick<Lifecycle, 'onStop'> = shared ?? lifecycle;
  const forwarding = new ServerForwarder({ findServer, waiting, logger });
  closings.onStop('own server', () => forwarding.close());
  const user = hostUserOf(config.GRAPH_HOST_USER);
  const sockets = await SocketFolder.open(user);
  closings.onStop('sockets', () => sockets.remove());
  const { socketPath, token, close } = await openLoopback(sockets, forwarding.onRequest);
  closings.onStop('loopback', close);
  const hosts = new HostSupervisor({
    logger,
    isShared: shared !== undefined,
    start: async (onExit) => {
      const host = await startGraphHost({
        ...location,
        environment: sockets.withHome(location.environment),
        user,
        loopback: { socketPath, token },
        publicUrl: config.LANGGRAPH_API_URL,
        ...(config.GRAPH_HOST_HEAP_MB !== undefined && { heapLimitMb: config.GRAPH_HOST_HEAP_MB }),
        limits: { eventBytes: config.STREAM_MESSAGE_MAX_BYTES },
        onLog: logOfProject(logger),
        onExit,
      });
      await openApp(host, project);
      return host;
    },
    ...limitsOfSilence(config, project),
    ...events,
  });
  shared?.offerHosts(() => hosts.current);
  return hosts;
}

/** Code that blocks its event loop is common in Python, where the process says that it lives nevertheless. */
function limitsOfSilence({ GRAPH_HOST_SILENT_SECONDS: seconds }: Config, { language }: OpenProject['project']) {
  const deadSeconds = seconds ?? (language === 'python' ? PYTHON_BLOCKED_SECONDS : SILENT_SECONDS);
  return { deadMs: deadSeconds * 1000, silentMs: Math.min(deadSeconds, SILENT_SECONDS) * 1000 };
}

/**
 * Opens what the app of a Python project opens before its first request: the graphs may use it. Apps in JavaScript open
 * nothing apart from their module.
 */
async function openApp(host: GraphHost, { app, language }: OpenProject['project']): Promise<void> {
  if (app === null || language !== 'python') return;
  try {
    await host.serveApp(app, null);
  } catch (error) {
    await host.close(0);
    throw error;
  }
}
