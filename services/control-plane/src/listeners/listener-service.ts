import type {
  ComputeConfig,
  ComputeType,
  Listener,
  ListenerCreate,
  ListenerList,
  ListenerPatch,
} from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { parseComputeConfig } from '@runyard/deployments';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import type { CopiedLogs } from '@runyard/revision-logs';
import { ConflictError, NotFoundError, type Principal, type Tenant, tenantOf } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/database.ts';
import { listenerStore } from '../deployments/listener-store.ts';
import type { Listener as ListenerRow, Prisma } from '../generated/client.ts';
import type { PageRequest } from '../revisions/deployment-store.ts';

/** How long a data plane may take to remove the deployments of a deleted workspace. */
const DATA_PLANE_MS = 3_600_000;

/** Manages listeners for the people who set up data planes. */
export class ListenerService {
  readonly #database: Database;
  readonly #copies: CopiedLogs;
  readonly #removeContent: (deploymentId: string) => Promise<void>;

  /** @param options.removeContent removes a deployment's sources, builds and images */
  constructor(options: {
    database: Database;
    copies: CopiedLogs;
    removeContent: (deploymentId: string) => Promise<void>;
  }) {
    this.#database = options.database;
    this.#copies = options.copies;
    this.#removeContent = options.removeContent;
  }

  async list(caller: Principal, page: PageRequest): Promise<ListenerList> {
    const tenant = tenantOf(caller);
    const rows = await listenerStore.list(this.#database.prisma, tenant, page);
    return { resources: rows.map(viewOf), offset: page.offset + rows.length };
  }

  async get(caller: Principal, id: string): Promise<Listener> {
    const tenant = tenantOf(caller);
    return viewOf(requireListener(await listenerStore.find(this.#database.prisma, tenant, id), id));
  }

  /** @throws ConflictError when the workspace has a listener for this cluster or machine */
  async create(caller: Principal, body: ListenerCreate, keyed?: KeyedRequest): Promise<Listener> {
    const tenant = tenantOf(caller);
    const computeConfig = parseComputeConfig(body.compute_type, body.compute_config);
    const computeId = toSqlText(body.compute_id);
    return this.#database.transact(
      withIdempotencyKey(keyed, async (transaction) => {
        const data = {
          ...tenant,
          id: uuidv7(),
          computeType: body.compute_type,
          computeId,
          computeConfig,
          version: body.version == null ? null : toSqlText(body.version),
          createdBy: caller.identity,
        };
        // The second of two requests at the same time has to get a conflict instead of a database error.
        const { count } = await transaction.listener.createMany({ data, skipDuplicates: true });
        if (count === 0) throw listenerExists(tenant, computeId);
        return viewOf(await transaction.listener.findUniqueOrThrow({ where: { id: data.id } }));
      }),
    );
  }

  async patch(caller: Principal, id: string, patch: ListenerPatch): Promise<Listener> {
    const tenant = tenantOf(caller);
    return this.#database.transact(async (transaction) => {
      const current = requireListener(await listenerStore.findForChange(transaction, tenant, id), id);
      const computeType = current.computeType as ComputeType;
      return viewOf(
        await transaction.listener.update({
          where: { id },
          data: {
            ...(patch.version == null ? {} : { version: toSqlText(patch.version) }),
            ...(patch.compute_config == null
              ? {}
              : { computeConfig: parseComputeConfig(computeType, patch.compute_config) }),
          },
        }),
      );
    });
  }

  /** @throws ConflictError while the listener has deployments that are not being deleted */
  async delete(caller: Principal, id: string): Promise<void> {
    await this.#delete(tenantOf(caller), id);
  }

  /**
   * Deletes the listeners of a deleted workspace, whose deployments are being deleted. Data planes have an hour to remove
   * them; a listener whose data plane did not stays until then.
   */
  async deleteAll(tenant: Tenant): Promise<void> {
    const listeners = await this.#database.prisma.listener.findMany({
      where: {
        ...tenant,
        deployments: { none: { deleteRequestedAt: { gt: new Date(Date.now() - DATA_PLANE_MS) } } },
      },
      select: { id: true },
    });
    for (const { id } of listeners) {
      await this.#delete(tenant, id).catch((error: unknown) => {
        // Another process was faster.
        if (!(error instanceof NotFoundError)) throw error;
      });
    }
  }

  async #delete(tenant: Tenant, id: string): Promise<void> {
    const deleted = await this.#database.transact((transaction) => this.#lockForDeletion(transaction, tenant, id));
    // The removal may be slow, so no lock is held meanwhile.
    for (const deploymentId of deleted) await this.#removeContent(deploymentId);
    await this.#database.transact(async (transaction) => {
      // No data plane will report the end of these deployments any more.
      for (const each of await this.#lockForDeletion(transaction, tenant, id))
        await this.#copies.removeDeployment(each);
      await transaction.deployment.deleteMany({ where: { listenerId: id } });
      await transaction.listener.delete({ where: { id } });
    });
  }

  /** Locks the listener and returns the ids of its deployments. @throws ConflictError unless all are being deleted */
  async #lockForDeletion(transaction: Prisma.TransactionClient, tenant: Tenant, id: string): Promise<string[]> {
    // The lock keeps others from adding a deployment to the listener.
    await transaction.$queryRaw`SELECT 1 FROM listener WHERE id = ${id}::uuid FOR UPDATE`;
    requireListener(await listenerStore.find(transaction, tenant, id), id);
    const left = await transaction.deployment.count({ where: { listenerId: id, deleteRequestedAt: null } });
    if (left > 0) {
      const count = left === 1 ? 'a deployment: delete it' : `${left} deployments: delete them`;
      throw new ConflictError(`Listener ID ${id} has ${count} first.`, { code: 'listener_in_use' });
    }
    const deleted = await transaction.deployment.findMany({ where: { listenerId: id }, select: { id: true } });
    return deleted.map((each) => each.id);
  }
}

/** Answers alike for a listener of another workspace and one that does not exist. */
export function requireListener(row: ListenerRow | null, id: string): ListenerRow {
  if (!row) throw new NotFoundError(`Listener ID ${id} not found.`);
  return row;
}

function listenerExists({ workspaceId }: Tenant, computeId: string): ConflictError {
  return new ConflictError(`Listener for workspace ID '${workspaceId}' and compute ID '${computeId}' already exists.`, {
    code: 'listener_exists',
  });
}

function viewOf(row: ListenerRow): Listener {
  return {
    id: row.id,
    tenant_id: row.workspaceId,
    compute_type: row.computeType as ComputeType,
    compute_id: row.computeId,
    compute_config: row.computeConfig as ComputeConfig,
    version: row.version,
    status: statusOf(row),
    last_seen_at: row.lastSeenAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function statusOf({ leaseUntil }: ListenerRow): Listener['status'] {
  if (leaseUntil === null) return 'NEVER_CONNECTED';
  return leaseUntil.getTime() > Date.now() ? 'CONNECTED' : 'SILENT';
}
