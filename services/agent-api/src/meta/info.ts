import { AGENT_SERVER_LEVEL, type ServerInfo } from '@runyard/contracts';
import manifest from '../../package.json' with { type: 'json' };
import type { Config } from '../config.ts';

/**
 * Returns what `/info` answers: the level of the agent server that this is, and its features.
 *
 * @param langgraphPyVersion null for a project that is not in Python
 */
export function serverInfo(
  config: Pick<Config, 'DEPLOYMENT_ID' | 'REVISION_ID' | 'LANGSMITH_TENANT_ID'>,
  langgraphPyVersion: string | null,
): ServerInfo {
  return {
    version: AGENT_SERVER_LEVEL,
    langgraph_py_version: langgraphPyVersion,
    runyard_version: manifest.version,
    flags: {
      assistants: true,
      crons: true,
      langsmith: false,
      langsmith_tracing_replicas: true,
      langsmith_tracing_session_on_runs: true,
    },
    host: {
      kind: 'self-hosted',
      project_id: config.DEPLOYMENT_ID,
      host_revision_id: config.REVISION_ID ?? null,
      revision_id: config.REVISION_ID ?? null,
      tenant_id: config.LANGSMITH_TENANT_ID ?? null,
    },
    metadata: {},
  };
}
