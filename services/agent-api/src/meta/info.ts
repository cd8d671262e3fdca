import { AGENT_SERVER_LEVEL, getInfo, type ServerInfo } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import manifest from '../../package.json' with { type: 'json' };
import type { Config } from '../config.ts';

/** Serves `/info`: the level of the agent server that this is, and its features. */
export function infoRoutes(
  config: Pick<Config, 'DEPLOYMENT_ID' | 'REVISION_ID' | 'LANGSMITH_TENANT_ID'>,
): BoundOperation[] {
  const info: ServerInfo = {
    version: AGENT_SERVER_LEVEL,
    langgraph_py_version: null,
    runyard_version: manifest.version,
    flags: {
      assistants: true,
      crons: true,
      langsmith: false,
      langsmith_tracing_replicas: false,
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
  return [bind(getInfo, () => ok(info))];
}
