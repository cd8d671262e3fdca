import type { DataCipher } from '@runyard/encryption';
import type { IdempotencyKeys } from '@runyard/idempotency';
import type { Project } from '@runyard/project';
import { PushConfigs, type RunEngine } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import type { ByteBudget } from '@runyard/service-kit';
import type pg from 'pg';
import { UNRESTRICTED } from '../access/scope.ts';
import type { Assistants } from '../assistants/open-assistants.ts';
import type { Authorizer } from '../auth/authorizer.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { StreamRights } from '../auth/stream-rights.ts';
import type { Config } from '../config.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import { requestOrigin } from '../runs/request-origin.ts';
import type { RunService } from '../runs/run-service.ts';
import type { Readers } from '../streams/open-readers.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import type { WebhookTargets } from '../webhooks/webhook-targets.ts';
import { httpJsonRoutes } from './bindings/http-json.ts';
import { jsonRpcRoute } from './bindings/json-rpc.ts';
import { restRoutes } from './bindings/rest-routes.ts';
import { V03_HTTP, V03_HTTP_ROUTES } from './bindings/v03-http.ts';
import { AgentCards } from './cards/agent-cards.ts';
import { cardRoutes } from './cards/card-routes.ts';
import { CardSigner } from './cards/card-signer.ts';
import { OwnAddresses } from './cards/own-addresses.ts';
import type { A2aAccess } from './methods/access.ts';
import { methodTable } from './methods/method-table.ts';
import { PushMethods } from './methods/push-methods.ts';
import { TaskMethods } from './methods/task-methods.ts';
import { PushRequests } from './push/push-requests.ts';
import { MessageSender } from './tasks/message-sender.ts';
import { TaskReader } from './tasks/task-reader.ts';
import { TaskStore } from './tasks/task-store.ts';

export interface A2aParts {
  config: Pick<Config, 'RUNYARD_AUTH' | 'PUBLIC_URLS' | 'LANGGRAPH_API_URL'>;
  project: Pick<Project, 'auth' | 'graphs'>;
  pool: pg.Pool;
  cipher: DataCipher;
  engine: RunEngine;
  threads: ThreadStore;
  assistants: Assistants;
  runs: RunService;
  keys: IdempotencyKeys;
  streams: RunStreams;
  readers: Readers;
  /** Bytes of the large results that answers hold. */
  resultBudget: ByteBudget;
  webhooks: { targets: WebhookTargets; isEnabled: boolean };
  configurableHeaders: PickHeaders;
  guard: RouteGuard;
  /** Asks again about users who follow a task without an end of its own; undefined where there are no users. */
  rights: Pick<StreamRights, 'watchAnswer'> | undefined;
  /** Left out where the project does not decide about callers. */
  authorizer: Pick<Authorizer, 'authorize'> | undefined;
}

/** Opens A2A: assistants as agents for other agents, with tasks that are chains of runs. */
export async function openA2a(parts: A2aParts): Promise<{ routes: GuardedOperation[] }> {
  const { config, project, pool, cipher, engine, threads, assistants, runs, streams, readers, webhooks, guard } = parts;
  const { rows } = await pool.query<{ signing_key: Buffer }>('SELECT signing_key FROM deployment');
  const cards = new AgentCards({
    assistants: assistants.service,
    schemas: assistants.schemas,
    signer: await CardSigner.derive(rows[0]!.signing_key),
    addresses: new OwnAddresses([...config.PUBLIC_URLS, config.LANGGRAPH_API_URL ?? '']),
    graphIds: project.graphs.map(({ graphId }) => graphId),
    // A project that decides about callers shows everybody only the assistants that all of them see.
    publicScope: project.auth === null ? UNRESTRICTED : [],
    pushes: webhooks.isEnabled,
    isProtected: config.RUNYARD_AUTH !== 'none' || project.auth !== null,
  });
  const push = new PushRequests({
    configs: new PushConfigs(pool, cipher),
    targets: webhooks.targets,
    isEnabled: webhooks.isEnabled,
  });
  const tasks = new TaskStore(pool);
  const reader = new TaskReader({ tasks, engine, threads, budget: parts.resultBudget });
  const sender = new MessageSender({
    runs,
    tasks,
    reader,
    threads,
    keys: parts.keys,
    inputKeys: assistants.inputKeys,
    acceptPush: (fields, about) => push.accept(fields, about),
  });
  const access = openAccess(parts);
  const { watch, ends, open } = readers;
  const events = { streams, watch, ends, reader };
  const { service } = assistants;
  const taskMethods = new TaskMethods({
    access,
    assistants: service,
    tasks,
    reader,
    sender,
    runs,
    engine,
    events,
    rights: parts.rights,
  });
  const methods = methodTable(taskMethods, new PushMethods(taskMethods, push), cards);
  return {
    routes: [
      ...cardRoutes(cards, guard),
      jsonRpcRoute(methods, open, guard),
      ...httpJsonRoutes({ methods, tasks: taskMethods, open, guard }),
      ...restRoutes(V03_HTTP, V03_HTTP_ROUTES, { methods, open, guard }),
    ],
  };
}

function openAccess({ authorizer, configurableHeaders }: A2aParts): A2aAccess {
  return {
    ask: async ({ request: { caller } }, { event, value }) =>
      authorizer ? authorizer.authorize(caller, event, value) : { scope: UNRESTRICTED, value },
    creatorOf: ({ request }) => requestOrigin(request, configurableHeaders),
  };
}
