import { AGENT_SERVER_LEVEL, getInfo, type ServerInfo } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import manifest from '../package.json' with { type: 'json' };
import type { Config } from './config.ts';

/** `/info`: which level of the agent server this is, and what it can do. */
export function infoRoutes(config: Pick<Config, 'DEPLOYMENT_ID' | 'REVISION_ID'>): BoundOperation[] {
  const info: ServerInfo = {
    version: AGENT_SERVER_LEVEL,
    langgraph_py_version: null,
    runyard_version: manifest.version,
    flags: { assistants: true, crons: true, langsmith: false, langsmith_tracing_replicas: false },
    host: { kind: 'self-hosted', project_id: config.DEPLOYMENT_ID, revision_id: config.REVISION_ID ?? null },
    metadata: {},
  };
  return [bind(getInfo, () => ok(info))];
}
