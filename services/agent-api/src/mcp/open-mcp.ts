import type { DataCipher } from '@runyard/encryption';
import type { Project } from '@runyard/project';
import type { RunEngine } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import type { CorsRules, Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { TaskReader } from '../a2a/tasks/task-reader.ts';
import { TaskStore } from '../a2a/tasks/task-store.ts';
import type { Assistants } from '../assistants/open-assistants.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { StreamRights } from '../auth/stream-rights.ts';
import type { Config } from '../config.ts';
import type { ProtocolAccess } from '../protocols/access.ts';
import type { RunResults } from '../runs/run-results.ts';
import type { RunService } from '../runs/run-service.ts';
import type { Readers } from '../streams/open-readers.ts';
import type { ThreadService } from '../threads/thread-service.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import { mcpRoute } from './bindings/mcp-route.ts';
import { RequestStates } from './calls/request-states.ts';
import { RunsOfRequests } from './calls/runs-of-requests.ts';
import { ToolRuns } from './calls/tool-runs.ts';
import { methodTables } from './methods/method-table.ts';
import { TaskMethods } from './methods/task-methods.ts';
import { KEPT_MS, ToolMethods } from './methods/tool-methods.ts';
import { Sessions } from './protocol/sessions.ts';
import { GivenAnswers } from './tasks/given-answers.ts';
import { OldConversation } from './tasks/old-conversation.ts';
import { ToolTasks } from './tasks/tool-tasks.ts';
import { WaitingCalls } from './tasks/waiting-calls.ts';
import { ToolCatalogue } from './tools/tool-catalogue.ts';

export interface McpParts {
  config: Pick<Config, 'RUNYARD_AUTH'>;
  project: Pick<Project, 'auth'>;
  pool: pg.Pool;
  cipher: DataCipher;
  engine: RunEngine;
  threads: { service: ThreadService; store: ThreadStore };
  assistants: Assistants;
  runs: RunService;
  results: RunResults;
  streams: RunStreams;
  readers: Readers;
  access: ProtocolAccess;
  rights: Pick<StreamRights, 'watchAnswer'> | undefined;
  /** The pages of other origins that may call. */
  cors: CorsRules;
  guard: RouteGuard;
  logger: Logger;
}

/** Opens MCP: assistants as tools, whose calls are runs. Nothing of a client is kept in this process. */
export async function openMcp(parts: McpParts): Promise<{ routes: GuardedOperation[] }> {
  const { config, project, pool, cipher, engine, threads, assistants, results, streams, readers, access } = parts;
  const { rows } = await pool.query<{ signing_key: Buffer }>('SELECT signing_key FROM deployment');
  const secret = rows[0]!.signing_key;
  const { watch, ends, open } = readers;
  const sources = { streams, watch, ends, engine, budget: results.budget };
  const store = new TaskStore(pool);
  const runs = new ToolRuns({ access, engine, runs: parts.runs, streams, threads: threads.service });
  const tasks = new ToolTasks({
    access,
    tasks: store,
    reader: new TaskReader({ tasks: store, engine, threads: threads.store, budget: results.budget }),
    engine,
    answers: new GivenAnswers(pool, cipher),
    runs,
  });
  const conversation = new OldConversation(sources, tasks, parts.rights);
  const sessions = new Sessions(secret);
  const tools = new ToolMethods({
    access,
    assistants: assistants.service,
    catalogue: new ToolCatalogue(assistants.tools, assistants.schemas),
    runs,
    waiting: new WaitingCalls({ states: new RequestStates(secret, { ttlMs: KEPT_MS }), tasks, runs }),
    conversation,
    requests: new RunsOfRequests(pool),
    tasks,
    sources,
    logger: parts.logger,
  });
  const route = mcpRoute(
    {
      methods: methodTables(tools, new TaskMethods({ access, tasks, conversation }), sessions),
      tools,
      conversation,
      sessions,
      origins: { cors: parts.cors, isProtected: config.RUNYARD_AUTH !== 'none' || project.auth !== null },
      open,
    },
    parts.guard,
  );
  return { routes: [route] };
}
