import type { BackgroundPart } from '../start-stop-storm.ts';
import { agentApiParts } from './agent-api-parts.ts';
import { packageParts } from './package-parts.ts';
import type { PartServers } from './part-servers.ts';
import { platformParts } from './platform-parts.ts';
import { runWorkerParts } from './run-worker-parts.ts';

/** Returns the background parts of the services, on real servers. */
export function backgroundParts(servers: PartServers): BackgroundPart[] {
  return [packageParts, agentApiParts, runWorkerParts, platformParts].flatMap((parts) => parts(servers));
}
