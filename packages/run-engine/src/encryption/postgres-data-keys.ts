import type { DataKeyStore, StoredDataKey } from '@runyard/encryption';
import type pg from 'pg';

interface KeyRow {
  key_id: Buffer;
  context: string;
  encrypted: Buffer;
  created_at: Date;
}

const COLUMNS = 'key_id, context, encrypted, created_at';

/** The data keys of a deployment in Postgres. */
export class PostgresDataKeys implements DataKeyStore {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async find(ids: string[]): Promise<StoredDataKey[]> {
    const { rows } = await this.#pool.query<KeyRow>({
      name: 'engine_find_data_keys',
      text: `SELECT ${COLUMNS} FROM encryption_key WHERE key_id = ANY($1::bytea[])`,
      values: [ids.map((id) => Buffer.from(id, 'hex'))],
    });
    return rows.map(keyOfRow);
  }

  async newest(digest: Buffer): Promise<StoredDataKey | undefined> {
    const { rows } = await this.#pool.query<KeyRow>({
      name: 'engine_newest_data_key',
      text: `SELECT ${COLUMNS} FROM encryption_key WHERE context_digest = $1 ORDER BY created_at DESC LIMIT 1`,
      values: [digest],
    });
    return rows[0] && keyOfRow(rows[0]);
  }

  async add({ id, metadata, digest, encrypted }: Parameters<DataKeyStore['add']>[0]): Promise<void> {
    await this.#pool.query({
      name: 'engine_add_data_key',
      text: 'INSERT INTO encryption_key (key_id, context, context_digest, encrypted) VALUES ($1, $2, $3, $4)',
      values: [Buffer.from(id, 'hex'), JSON.stringify(metadata), digest, encrypted],
    });
  }

  async replace({ id, encrypted: before }: StoredDataKey, encrypted: Uint8Array): Promise<void> {
    await this.#pool.query({
      name: 'engine_replace_data_key',
      text: 'UPDATE encryption_key SET encrypted = $3 WHERE key_id = $1 AND encrypted = $2',
      values: [Buffer.from(id, 'hex'), before, encrypted],
    });
  }
}

function keyOfRow({ key_id, context, encrypted, created_at }: KeyRow): StoredDataKey {
  return { id: key_id.toString('hex'), metadata: JSON.parse(context), encrypted, createdAt: created_at };
}
