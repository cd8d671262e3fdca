import type { DataCipher } from '@runyard/encryption';
import type { ProjectGraph } from '@runyard/host-protocol';
import type { IdempotencyKeys } from '@runyard/idempotency';
import type pg from 'pg';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { PrismaClient } from '../connections/prisma.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import type { ListRoom } from '../http/list-room.ts';
import { assistantGraphRoutes } from './assistant-graph-routes.ts';
import { AssistantGraphService, type GraphHostProvider } from './assistant-graph-service.ts';
import { AssistantIds } from './assistant-ids.ts';
import { AssistantLookup } from './assistant-lookup.ts';
import { AssistantRemoval, type AssistantRemovalOptions } from './assistant-removal.ts';
import { assistantRoutes } from './assistant-routes.ts';
import { AssistantService } from './assistant-service.ts';
import { AssistantStore } from './assistant-store.ts';
import { AssistantTools } from './assistant-tools.ts';
import { readAssistantVariables } from './assistant-variables.ts';
import { AssistantVersionStore } from './assistant-version-store.ts';
import { AssistantVisibility } from './assistant-visibility.ts';
import { InputKeys } from './input-keys.ts';
import { RememberedSchemas } from './remembered-schemas.ts';
import { ensureSystemAssistants } from './system-assistants.ts';

export interface Assistants {
  /** Finds the assistants of runs that are being created. */
  lookup: AssistantLookup;
  service: AssistantService;
  inputKeys: InputKeys;
  schemas: RememberedSchemas;
  tools: AssistantTools;
  routes: GuardedOperation[];
}

export interface AssistantParts {
  prisma: PrismaClient;
  pool: pg.Pool;
  cipher: DataCipher;
  listRoom: ListRoom;
  graphs: readonly ProjectGraph[];
  /** Variables of the service, overridden by those of the project. */
  environment: Record<string, string | undefined>;
  removal: Omit<AssistantRemovalOptions, 'store'>;
  /** Describes graphs. */
  host: GraphHostProvider;
  /** Request headers that reach `configurable`. */
  configurableHeaders: PickHeaders;
  keys: IdempotencyKeys;
  guard: RouteGuard;
}

/**
 * Opens the assistants of a deployment and brings the default assistants up to date with the project.
 *
 * @throws ConfigError when a variable about assistants is wrong
 */
export async function openAssistants(parts: AssistantParts): Promise<Assistants> {
  const { prisma, pool, cipher, listRoom, graphs, environment, removal, host, configurableHeaders, guard } = parts;
  const variables = readAssistantVariables(environment);
  const ids = new AssistantIds(graphs.map(({ graphId }) => graphId));
  const visibility = new AssistantVisibility(ids.graphIds);
  const store = new AssistantStore(prisma, visibility, cipher, listRoom);
  const versions = new AssistantVersionStore(prisma, visibility, cipher, listRoom);
  await ensureSystemAssistants({ store, versions }, graphs, variables.defaults);
  const service = new AssistantService({ ids, store, versions, removal: new AssistantRemoval({ store, ...removal }) });
  const graphService = new AssistantGraphService({
    assistants: service,
    host,
    sourceTimeoutMs: variables.schemaTimeoutMs,
  });
  return {
    lookup: new AssistantLookup(pool, ids, cipher),
    service,
    inputKeys: new InputKeys(graphService),
    schemas: new RememberedSchemas(graphService),
    tools: new AssistantTools(prisma, visibility, cipher),
    routes: [
      ...assistantRoutes(service, parts.keys, guard),
      ...assistantGraphRoutes(graphService, configurableHeaders, guard),
    ],
  };
}
