import { createHash, randomBytes } from 'node:crypto';
import type { ListenerKey, ListenerKeyCreate, ListenerKeyCreated } from '@runyard/contracts';
import { NotFoundError, type Principal, tenantOf } from '@runyard/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/database.ts';
import { listenerStore } from '../deployments/listener-store.ts';
import { requireListener } from './listener-service.ts';

const PREFIX = 'rld_';
const RANDOM_BYTES = 32;
const FORM = /^rld_[0-9a-f]{64}$/;

interface KeyRow {
  id: string;
  createdAt: Date;
  expiresAt: Date | null;
}

/** The listener that a key authenticates. */
export interface KeyOwner {
  listenerId: string;
  organizationId: string;
  workspaceId: string;
}

/**
 * Manages keys with which data planes authenticate for their listeners. Whoever may read the secrets of the workspace's
 * deployments may create them. They are stored as hashes and deleted with their listener.
 */
export class ListenerKeys {
  readonly #database: Database;
  readonly #pool: pg.Pool;

  constructor(database: Database) {
    this.#database = database;
    this.#pool = database.pool;
  }

  /** Returns whether a text has the form of a listener key. */
  static isKey(text: string): boolean {
    return FORM.test(text);
  }

  /** Creates a key that replaces the existing ones, which expire at once or after `keep_former_seconds`. */
  async create(
    caller: Principal,
    listenerId: string,
    { keep_former_seconds }: ListenerKeyCreate,
  ): Promise<ListenerKeyCreated> {
    const tenant = tenantOf(caller);
    const key = PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
    const id = uuidv7();
    const createdAt = await this.#database.transact(async (transaction) => {
      requireListener(await listenerStore.findForChange(transaction, tenant, listenerId), listenerId);
      await transaction.$executeRaw`
        UPDATE listener_key SET expires_at = least(expires_at, now() + make_interval(secs => ${keep_former_seconds ?? 0}))
        WHERE listener_id = ${listenerId}::uuid`;
      await transaction.$executeRaw`
        DELETE FROM listener_key WHERE listener_id = ${listenerId}::uuid AND expires_at <= now()`;
      const rows = await transaction.$queryRaw<{ createdAt: Date }[]>`
        INSERT INTO listener_key (id, listener_id, sha256) VALUES (${id}::uuid, ${listenerId}::uuid, ${hashOf(key)})
        RETURNING created_at AS "createdAt"`;
      return rows[0]!.createdAt;
    });
    return { ...viewOf({ id, createdAt, expiresAt: null }), key };
  }

  async list(caller: Principal, listenerId: string): Promise<ListenerKey[]> {
    const tenant = tenantOf(caller);
    requireListener(await listenerStore.find(this.#database.prisma, tenant, listenerId), listenerId);
    const { rows } = await this.#pool.query<KeyRow>(
      `SELECT id, created_at AS "createdAt", expires_at AS "expiresAt" FROM listener_key
       WHERE listener_id = $1 AND (expires_at IS NULL OR expires_at > now())
       ORDER BY created_at DESC, id DESC`,
      [listenerId],
    );
    return rows.map(viewOf);
  }

  async revoke(caller: Principal, { listenerId, keyId }: { listenerId: string; keyId: string }): Promise<void> {
    const tenant = tenantOf(caller);
    requireListener(await listenerStore.find(this.#database.prisma, tenant, listenerId), listenerId);
    const { rowCount } = await this.#pool.query('DELETE FROM listener_key WHERE id = $1 AND listener_id = $2', [
      keyId,
      listenerId,
    ]);
    if (!rowCount) throw new NotFoundError(`Listener key ID ${keyId} not found.`);
  }

  /** Returns undefined for a key that is not valid (any more). */
  async ownerOf(key: string): Promise<KeyOwner | undefined> {
    const { rows } = await this.#pool.query<KeyOwner>(
      `SELECT listener.id AS "listenerId", organization_id AS "organizationId", workspace_id AS "workspaceId"
       FROM listener_key JOIN listener ON listener.id = listener_id
       WHERE sha256 = $1 AND (expires_at IS NULL OR expires_at > now())`,
      [hashOf(key)],
    );
    return rows[0];
  }
}

/** The key is random, so a fast hash without salt is safe. */
function hashOf(key: string): Buffer<ArrayBuffer> {
  return Buffer.from(createHash('sha256').update(key).digest());
}

function viewOf({ id, createdAt, expiresAt }: KeyRow): ListenerKey {
  return { id, created_at: createdAt.toISOString(), expires_at: expiresAt?.toISOString() ?? null };
}
