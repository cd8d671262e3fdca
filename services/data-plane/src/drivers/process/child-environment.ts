import { machineEnvironment } from '@runyard/contracts';
import type { LocalProject } from '@runyard/deployments';
import { type PlatformSettings, type ReplicaVariables, replicaVariables } from '../deployment-variables.ts';
import type { RevisionSpec } from '../driver.ts';

/** Returns the environment of a process of the platform that has no variables of a revision. */
export function processEnvironment(): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env;
  return {
    ...machineEnvironment(process.env),
    // Bundles of the platform share it; the project's code, which could change what is in it, is not told of it.
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
  };
}

/** Returns the variables of an agent-api or run-worker that runs as a process of this machine. */
export function childVariables(
  spec: RevisionSpec,
  project: LocalProject,
  platform: PlatformSettings,
  role: 'agent-api' | 'run-worker',
): ReplicaVariables {
  const { env, secrets } = replicaVariables(spec, { ...project.env, ...spec.secrets }, platform, role);
  return {
    env: {
      ...processEnvironment(),
      ...env,
      HOST: platform.host,
      ...(platform.stopGraceSeconds !== undefined && {
        RUNYARD_PARENT_GRACE_SECONDS: String(platform.stopGraceSeconds),
      }),
      PROJECT_DIR: project.directory,
      LANGGRAPH_CONFIG_PATH: project.configPath,
      // A build stores the schemas. One process of a project in place is enough to read them.
      ...(!project.isBuilt && role === 'agent-api' && { READ_SCHEMAS_AHEAD: 'true' }),
    },
    secrets,
  };
}

/**
 * Returns the variables of a process that runs both: each finds its own among the secrets, under its name, and those of
 * the process are there too, for one that was started without them. Their graph
 * host has the larger of their limits, as each may need all of its own.
 */
export function variablesOfBoth(server: ReplicaVariables, worker: ReplicaVariables): ReplicaVariables {
  const limits = [server, worker].map(({ env }) => Number(env.GRAPH_HOST_HEAP_MB ?? Number.POSITIVE_INFINITY));
  const largest = Math.max(...limits);
  // An empty variable is none.
  const GRAPH_HOST_HEAP_MB = Number.isFinite(largest) ? String(largest) : '';
  const own = ({ env, secrets }: ReplicaVariables) => JSON.stringify({ ...env, ...secrets, GRAPH_HOST_HEAP_MB });
  const { env } = server;
  return { env, secrets: { process: JSON.stringify(env), 'agent-api': own(server), 'run-worker': own(worker) } };
}
