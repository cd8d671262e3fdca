import {
  FORMER_IMAGE_ROWS_PER_PAGE,
  type FormerImageKind,
  type FormerImagePage,
  type FormerImageRows,
  type FormerImageRowsRequest,
} from '@runyard/contracts';
import type pg from 'pg';

interface FormerTable {
  kind: FormerImageKind;
  table: string;
  /** The columns of its primary key. */
  key: string[];
  /** The expression of SQL for the row, as an object of JSON. */
  row: string;
  /** The expression of SQL for the bytes of the row, where it may have many. */
  bytes?: string;
}

/** A blob that came in many pieces has a list of as many objects. */
const BYTES_OF_PARTS = 'octet_length(parts::text)';
const TABLES: FormerTable[] = [
  {
    kind: 'blobs',
    table: 'registry_blob',
    key: ['deployment_id', 'digest'],
    row: 'to_jsonb(former)',
    bytes: BYTES_OF_PARTS,
  },
  { kind: 'base_layers', table: 'base_layer', key: ['digest'], row: 'to_jsonb(former)', bytes: BYTES_OF_PARTS },
  {
    kind: 'manifests',
    table: 'registry_manifest',
    key: ['deployment_id', 'repository', 'digest'],
    row: `(to_jsonb(former) || jsonb_build_object('content', translate(encode(content, 'base64'), E'\\n', '')))`,
    bytes: 'octet_length(content)',
  },
  { kind: 'tags', table: 'registry_tag', key: ['deployment_id', 'repository', 'tag'], row: 'to_jsonb(former)' },
  { kind: 'uploads', table: 'registry_upload', key: ['id'], row: 'to_jsonb(former)', bytes: BYTES_OF_PARTS },
];
/** Bytes of rows in one page, unless a single one is larger. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Hands over what this service kept of images in older releases, and deletes what the registry has stored. */
export class FormerImages {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async delete({ kind, keys }: NonNullable<FormerImageRowsRequest['stored']>): Promise<void> {
    const { table, key } = TABLES.find((each) => each.kind === kind)!;
    const values = key.map((_, index) => keys.map((each) => each[index]));
    const lists = key.map((_, index) => `$${index + 1}::text[]`);
    await this.#pool.query(
      `DELETE FROM ${table} WHERE (${key.map((column) => `${column}::text`).join(', ')}) IN
         (SELECT * FROM unnest(${lists.join(', ')}))`,
      values,
    );
  }

  /** Reads the first rows that are left. */
  async read(): Promise<FormerImagePage> {
    for (const { kind, table, key, row, bytes = '0' } of TABLES) {
      const columns = key.join(', ');
      const { rows } = await this.#pool.query<{ row: { deployment_id?: string }; key: string[] }>(
        `SELECT ${row} - 'bytes' - 'number' AS row, ARRAY[${key.map((column) => `${column}::text`).join(', ')}] AS key
         FROM (SELECT *, sum(${bytes}) OVER (ORDER BY ${columns}) AS bytes,
                      row_number() OVER (ORDER BY ${columns}) AS number
               FROM (SELECT * FROM ${table} ORDER BY ${columns} LIMIT ${FORMER_IMAGE_ROWS_PER_PAGE}) AS first) AS former
         WHERE number = 1 OR bytes <= ${PAGE_BYTES}`,
      );
      if (rows.length === 0) continue;
      const deployments = await this.#deploymentsOf(rows.map((each) => each.row.deployment_id));
      const page: FormerImageRows = { ...emptyRows(), deployments, [kind]: rows.map((each) => each.row) };
      return { kind, keys: rows.map((each) => each.key), rows: page };
    }
    return { kind: null, keys: [], rows: emptyRows() };
  }

  async #deploymentsOf(ids: (string | undefined)[]): Promise<FormerImageRows['deployments']> {
    const { rows } = await this.#pool.query<{ id: string; workspace_id: string }>(
      'SELECT id, workspace_id FROM deployment WHERE id = ANY($1::uuid[])',
      [[...new Set(ids.filter((id) => id !== undefined))]],
    );
    return rows;
  }
}

function emptyRows(): FormerImageRows {
  return { deployments: [], uploads: [], blobs: [], base_layers: [], manifests: [], tags: [] };
}
