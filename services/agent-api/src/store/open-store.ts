import { installVectorExtension, PostgresStore, type StoreBackend } from '@runyard/checkpointer';
import type { DataCipher } from '@runyard/encryption';
import { embeddingsOf } from '@runyard/host-client';
import { GraphLoadError } from '@runyard/host-protocol';
import { Lease, leaseMsFor } from '@runyard/leases';
import { type Project, type StoreSettings, storeSettings } from '@runyard/project';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { ListRoom } from '../http/list-room.ts';
import type { ProjectHost } from '../project/project-host.ts';
import { storeRoutes } from './store-routes.ts';
import { StoreService } from './store-service.ts';
import { createStoreSweeper } from './store-sweeper.ts';

export interface OpenStoreOptions {
  project: Pick<Project, 'store' | 'directory'>;
  pool: pg.Pool;
  cipher: DataCipher;
  listRoom: ListRoom;
  /** Calls the embeddings of the project. */
  host: Pick<ProjectHost, 'embed'>;
  guard: RouteGuard;
  logger: Logger;
}

export interface OpenStore {
  /** The store for clients and reads of state; runs have their own, under a fence. */
  backend: StoreBackend;
  routes: GuardedOperation[];
  /** Starts once the host is there. @throws GraphLoadError when the project's embeddings cannot be used */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the long-term store as the project's `langgraph.json` configures it. @throws GraphLoadError */
export function openStore({ project, pool, cipher, listRoom, host, guard, logger }: OpenStoreOptions): OpenStore {
  const settings = storeSettings(project);
  const { embeddings, sweepEveryMinutes } = settings;
  const store = new PostgresStore({ pool, cipher, ...settings });
  const backend = store.open(embeddings && { embed: embeddingsOf(host, embeddings) });
  const everyMs = (sweepEveryMinutes ?? 0) * 60_000;
  const lease = new Lease(pool, { name: 'store sweep', leaseMs: leaseMsFor(everyMs) });
  const sweeper = everyMs > 0 ? createStoreSweeper({ store, lease, logger, everyMs }) : undefined;
  return {
    backend,
    routes: storeRoutes(new StoreService(backend, listRoom), guard),
    async start() {
      await checkEmbeddings(settings, host, logger);
      if (settings.index) await reportVectorSupport(store, pool, logger);
      sweeper?.start();
    },
    close: async () => sweeper?.stop(),
  };
}

/**
 * Embeds one text, so that a wrong `dims`, a missing package or key is reported at start and not by the first write. A
 * model that is away at the moment does not prevent the start.
 */
async function checkEmbeddings(
  { embeddings: source, index }: StoreSettings,
  host: Pick<ProjectHost, 'embed'>,
  logger: Logger,
) {
  if (!source || !index) return;
  const vectors = await host.embed({ source, texts: ['dimensions'], as: 'documents' }).catch((error: unknown) => {
    if (error instanceof GraphLoadError) throw error;
    logger.warn('trying the embeddings of the store failed', { error });
    return undefined;
  });
  const made = vectors?.[0]?.length;
  if (made === undefined || made === index.dims) return;
  throw new GraphLoadError(
    `langgraph.json: store.index.dims is ${index.dims}, and ${index.embeddings} makes vectors of ${made} dimensions.`,
  );
}

async function reportVectorSupport(store: PostgresStore, pool: pg.Pool, logger: Logger): Promise<void> {
  const withPgvector = await installVectorExtension(pool);
  logger.info(
    withPgvector ? 'search by meaning uses pgvector' : 'search by meaning compares in SQL: there is no pgvector',
  );
  // The query reads the rows of all vectors, so nobody waits for it.
  store
    .hasForeignVectors()
    .then((hasForeign) => {
      if (hasForeign)
        logger.warn('items of other embeddings found, search by meaning skips them until they are put again');
    })
    .catch((error: unknown) => logger.debug('looking for items of other embeddings failed', { error }));
}
