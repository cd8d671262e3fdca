import {
  FORMER_ROWS_PER_PAGE,
  type FormerAgentConnection,
  type FormerOAuthFlow,
  type FormerOAuthProvider,
  type FormerOAuthToken,
  type FormerRowKind,
  type FormerRows,
  type FormerRowsRequest,
} from '@runyard/contracts';
import { type Cipher, EncryptionError } from '@runyard/encryption';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';

/** Nothing refers to a row when the turn of its kind comes. */
const KINDS = ['connections', 'tokens', 'flows', 'providers'] as const satisfies FormerRowKind[];

const TABLES: Record<FormerRowKind, string> = {
  connections: 'oauth_agent_connection',
  tokens: 'oauth_token',
  flows: 'oauth_flow',
  providers: 'oauth_provider',
};

/** Rows that refer to a provider or a token go before it: they would be deleted with it. */
const UNREFERRED: Record<FormerRowKind, string> = {
  connections: 'true',
  tokens: 'NOT EXISTS (SELECT FROM oauth_agent_connection WHERE token_id = former.id)',
  flows: 'true',
  providers: `NOT EXISTS (SELECT FROM oauth_agent_connection WHERE provider_uuid = former.id)
    AND NOT EXISTS (SELECT FROM oauth_token WHERE provider_uuid = former.id)
    AND NOT EXISTS (SELECT FROM oauth_flow WHERE provider_uuid = former.id)`,
};

type Stored<Row, Secret extends keyof Row> = Omit<Row, Secret>;
type StoredProvider = Stored<FormerOAuthProvider, 'client_secret'> & { sealed_client_secret: string | null };
type StoredToken = Stored<FormerOAuthToken, 'secrets'> & { sealed: string; metadata: unknown };
type StoredFlow = Stored<FormerOAuthFlow, 'client_secret' | 'code_verifier'> & {
  sealed_client_secret: string | null;
  sealed_code_verifier: string | null;
};

/** The rows to which those of a page refer, by id. A row that cannot be decrypted is not among them. */
interface Referred {
  providers: Map<string, FormerOAuthProvider>;
  tokens: Map<string, FormerOAuthToken>;
}

/**
 * Hands over what this service kept of the OAuth broker in older releases, decrypted, and deletes what the broker has
 * stored. Rows that cannot be decrypted stay, with those that refer to them: the key may be found again.
 */
export class FormerOAuthRows {
  readonly #pool: pg.Pool;
  readonly #cipher: Cipher;
  readonly #logger: Logger;

  constructor(options: { pool: pg.Pool; cipher: Cipher; logger: Logger }) {
    this.#pool = options.pool;
    this.#cipher = options.cipher;
    this.#logger = options.logger;
  }

  async delete(kind: FormerRowKind, ids: readonly string[]): Promise<void> {
    await this.#pool.query(`DELETE FROM ${TABLES[kind]} AS former WHERE id = ANY($1::uuid[]) AND ${UNREFERRED[kind]}`, [
      ids,
    ]);
  }

  /** Reads the page after a row; the last one is empty. */
  async read(after: FormerRowsRequest['after'] | null): Promise<FormerRows> {
    const begin = after ? KINDS.indexOf(after.kind) : 0;
    for (const kind of KINDS.slice(begin)) {
      const rows = await this.#readKind(kind, after?.kind === kind ? after.id : null);
      if (rows.length > 0) return this.#makePage(kind, rows);
    }
    return { kind: 'providers', ...emptyPage(), next: null };
  }

  async #readKind(kind: FormerRowKind, afterId: string | null): Promise<{ id: string }[]> {
    const { rows } = await this.#pool.query<{ row: { id: string } }>(
      `SELECT to_jsonb(former) AS row FROM ${TABLES[kind]} AS former
       WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT ${FORMER_ROWS_PER_PAGE}`,
      [afterId],
    );
    return rows.map(({ row }) => row);
  }

  async #readAll<Row>(kind: FormerRowKind, ids: readonly string[]): Promise<Row[]> {
    const { rows } = await this.#pool.query<{ row: Row }>(
      `SELECT to_jsonb(former) AS row FROM ${TABLES[kind]} AS former WHERE id = ANY($1::uuid[])`,
      [ids],
    );
    return rows.map(({ row }) => row);
  }

  async #makePage(kind: FormerRowKind, rows: { id: string }[]): Promise<FormerRows> {
    const page = emptyPage();
    const next = { kind, id: rows.at(-1)!.id };
    if (kind === 'connections') {
      const connections = rows as FormerAgentConnection[];
      const tokens = await this.#readAll<StoredToken>('tokens', idsOf(connections, 'token_id'));
      const referred = await this.#refer(tokens, connections);
      page.connections = connections.filter(
        ({ token_id, provider_uuid }) => referred.tokens.has(token_id) && referred.providers.has(provider_uuid),
      );
      page.tokens = [...referred.tokens.values()];
      page.providers = [...referred.providers.values()];
    } else if (kind === 'tokens') {
      const referred = await this.#refer(rows as StoredToken[], []);
      page.tokens = [...referred.tokens.values()];
      page.providers = [...referred.providers.values()];
    } else if (kind === 'flows') {
      const flows = rows as StoredFlow[];
      const { providers } = await this.#refer([], flows);
      page.flows = flows.filter((row) => providers.has(row.provider_uuid)).flatMap((row) => this.#decryptFlow(row));
      page.providers = [...providers.values()];
    } else {
      page.providers = (rows as StoredProvider[]).flatMap((row) => this.#decryptProvider(row));
    }
    return { kind, ...page, undecryptable: rows.length - page[kind].length, next };
  }

  /** Decrypts tokens, and the providers of these and of other rows. */
  async #refer(tokens: StoredToken[], others: { provider_uuid: string }[]): Promise<Referred> {
    const ids = idsOf([...tokens, ...others], 'provider_uuid');
    const providers = byId(
      (await this.#readAll<StoredProvider>('providers', ids)).flatMap((row) => this.#decryptProvider(row)),
    );
    const usable = tokens.filter(({ provider_uuid }) => providers.has(provider_uuid));
    return { providers, tokens: byId(usable.flatMap((row) => this.#decryptToken(row))) };
  }

  #decryptProvider({ sealed_client_secret, ...row }: StoredProvider): FormerOAuthProvider[] {
    return this.#attempt('providers', row.id, () => ({
      ...row,
      client_secret: this.#decryptClientSecret(sealed_client_secret, row.id),
    }));
  }

  #decryptToken({ sealed, metadata, ...row }: StoredToken): FormerOAuthToken[] {
    return this.#attempt('tokens', row.id, () => {
      const secrets = JSON.parse(this.#cipher.decrypt(sealed, `oauth-token/${row.organization_id}/${row.id}`));
      return {
        ...row,
        scopes: row.scopes ?? [],
        asked_scopes: row.asked_scopes ?? [],
        // The first release had the metadata in a column.
        secrets: JSON.stringify({ ...secrets, metadata: secrets.metadata ?? metadata }),
      };
    });
  }

  #decryptFlow({ sealed_client_secret, sealed_code_verifier, ...row }: StoredFlow): FormerOAuthFlow[] {
    return this.#attempt('flows', row.id, () => ({
      ...row,
      scopes: row.scopes ?? [],
      state_digest: Buffer.from(row.state_digest.slice('\\x'.length), 'hex').toString('base64'),
      client_secret: this.#decryptClientSecret(sealed_client_secret, row.provider_uuid),
      code_verifier:
        sealed_code_verifier === null
          ? null
          : this.#cipher.decrypt(sealed_code_verifier, `oauth-flow/${row.id}/code-verifier`),
    }));
  }

  #decryptClientSecret(encrypted: string | null, providerUuid: string): string | null {
    return encrypted === null ? null : this.#cipher.decrypt(encrypted, `oauth-provider/${providerUuid}/client-secret`);
  }

  /** Returns the row, or nothing when it cannot be decrypted. */
  #attempt<Row>(kind: FormerRowKind, id: string, decrypt: () => Row): Row[] {
    try {
      return [decrypt()];
    } catch (error) {
      if (!(error instanceof EncryptionError || error instanceof SyntaxError)) throw error;
      this.#logger.warn('former row not decrypted', { table: TABLES[kind], id });
      return [];
    }
  }
}

function emptyPage(): Omit<FormerRows, 'kind' | 'next'> {
  return { providers: [], tokens: [], flows: [], connections: [], undecryptable: 0 };
}

function idsOf<Key extends string>(rows: readonly Record<Key, string>[], key: Key): string[] {
  return [...new Set(rows.map((row) => row[key]))];
}

function byId<Row extends { id: string }>(rows: Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}
