import { hostUserOf, openLoopback, SocketFolder, startGraphHost } from '@runyard/host-client';
import type { OpenProject } from '@runyard/project';
import type { ApiServers } from '@runyard/run-engine';
import type { ServiceContext } from '@runyard/service-kit';
import type { Config } from '../config.ts';
import { ServerForwarder } from '../loopback/forward-to-server.ts';
import type { WaitingRuns } from '../loopback/waiting-runs.ts';
import { HostSupervisor, type HostSupervisorOptions } from './host-supervisor.ts';

export interface HostParts extends Pick<HostSupervisorOptions, 'onReady' | 'onLost'> {
  /** The project, and the environment of its code. */
  project: Pick<OpenProject, 'configPath' | 'environment'>;
  servers: ApiServers;
  waiting: WaitingRuns;
}

/**
 * Opens the graph hosts of the worker, not started yet, and the loopback of the project's code to the deployment's own
 * server.
 */
export async function openHosts(
  config: Config,
  { logger, lifecycle }: ServiceContext,
  { project, servers, waiting, ...events }: HostParts,
): Promise<HostSupervisor> {
  const forwarding = new ServerForwarder({ findServer: () => servers.find(config.REVISION_ID), waiting, logger });
  lifecycle.onStop('own server', () => forwarding.close());
  const user = hostUserOf(config.GRAPH_HOST_USER);
  const sockets = await SocketFolder.open(user);
  lifecycle.onStop('sockets', () => sockets.remove());
  const { socketPath, token, close } = await openLoopback(sockets, forwarding.onRequest);
  lifecycle.onStop('loopback', close);
  return new HostSupervisor({
    logger,
    start: (onExit) =>
      startGraphHost({
        ...project,
        environment: sockets.withHome(project.environment),
        user,
        loopback: { socketPath, token },
        publicUrl: config.LANGGRAPH_API_URL,
        ...(config.GRAPH_HOST_HEAP_MB !== undefined && { heapLimitMb: config.GRAPH_HOST_HEAP_MB }),
        limits: { eventBytes: config.STREAM_MESSAGE_MAX_BYTES },
        onLog: ({ level, message, ...about }) => logger[level](message, { ...about, from: 'project' }),
        onExit,
      }),
    deadMs: config.GRAPH_HOST_SILENT_SECONDS * 1000,
    ...events,
  });
}
