import { AGENT_SERVER_LEVEL } from '@runyard/contracts';
import { type McpClient, SERVER_INFO_KEY, TASKS_EXTENSION } from './client.ts';
import { type OldRevision, SUPPORTED_REVISIONS } from './versions.ts';

const SERVER_INFO = { name: 'Runyard', version: AGENT_SERVER_LEVEL };
const TOOLS = { listChanged: false };

/** Milliseconds for which clients may keep a list. Each belongs to one caller. */
const CACHED_MS = 10_000;
export const CACHING = { ttlMs: CACHED_MS, cacheScope: 'private' } as const;

/** The answer to `initialize`. */
export function initialized(revision: OldRevision): object {
  const hasTasks = revision === '2025-11-25';
  return {
    protocolVersion: revision,
    capabilities: {
      tools: TOOLS,
      ...(hasTasks && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
    },
    serverInfo: SERVER_INFO,
  };
}

/** The answer to `server/discover`. */
export function discovered(): object {
  return {
    supportedVersions: SUPPORTED_REVISIONS,
    capabilities: { tools: TOOLS, extensions: { [TASKS_EXTENSION]: {} } },
    ...CACHING,
  };
}

/** Returns a result in the form of the client's revision: new ones say what kind they are, and who gives them. */
export function toResult(result: object, { isNew }: Pick<McpClient, 'isNew'>): object {
  if (!isNew) return result;
  const { _meta } = result as { _meta?: object };
  return { resultType: 'complete', ...result, _meta: { ..._meta, [SERVER_INFO_KEY]: SERVER_INFO } };
}
