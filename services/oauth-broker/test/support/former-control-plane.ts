import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Cipher } from '@runyard/encryption';
import {
  createTestDatabase,
  startServiceProcess,
  type TestDatabase,
  type TestServiceProcess,
  testRedis,
  withDatabaseClient,
} from '@runyard/test-kit';
import { ORGANIZATION, WORKSPACE } from '@runyard/test-kit/callers';
import { INTERNAL_TOKEN } from '@runyard/test-kit/fake-platform';

const root = fileURLToPath(new URL('../../../control-plane/', import.meta.url));
/** An address where nothing listens. */
const NOWHERE = 'http://127.0.0.1:9';

const TABLES = ['oauth_agent_connection', 'oauth_token', 'oauth_flow', 'oauth_provider'];
export const NO_ROWS = Object.fromEntries(TABLES.map((table) => [table, 0]));

/** Counts the rows of the broker, in a database of its own or of control-plane. */
export async function countFormerTables(url: string): Promise<Record<string, number>> {
  return withDatabaseClient(url, async (client) => {
    const counts = TABLES.map((table) => `SELECT '${table}' AS name, count(*)::int FROM ${table}`);
    const { rows } = await client.query<{ name: string; count: number }>(counts.join(' UNION ALL '));
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  });
}

/** A control-plane as it is after the update of a release that was the OAuth broker itself, with rows of that release. */
export class FormerControlPlane {
  readonly #database: TestDatabase;
  readonly #folder: string;
  readonly #redis = testRedis();
  readonly #encryptionKey = randomBytes(32).toString('base64');
  readonly #cipher = new Cipher(this.#encryptionKey);
  #process: TestServiceProcess | undefined;

  private constructor(database: TestDatabase, folder: string) {
    this.#database = database;
    this.#folder = folder;
  }

  static async start(): Promise<FormerControlPlane> {
    const folder = await mkdtemp(join(tmpdir(), 'runyard-former-'));
    const self = new FormerControlPlane(await createTestDatabase(join(root, 'prisma/migrations')), folder);
    self.#process = await startServiceProcess({
      entry: join(root, 'src/main.ts'),
      env: {
        EVENT_BUS: 'redis',
        TOPIC_PREFIX: self.#redis.prefix,
        ORG_ACCESS_URL: NOWHERE,
        REGISTRY_SERVICE_URL: NOWHERE,
        PUBLIC_URL: 'https://agents.example.com',
        DATA_DIR: folder,
      },
      secrets: {
        DATABASE_URI: self.#database.url,
        REDIS_URI: self.#redis.url,
        DATA_PLANE_KEY: 'shared-by-the-data-planes-of-a-test',
        EVENT_BUS_REDIS_URI: self.#redis.url,
        INTERNAL_TOKEN,
        ENCRYPTION_KEY: self.#encryptionKey,
      },
    });
    return self;
  }

  get url(): string {
    return this.#process!.url;
  }

  output(): string {
    return this.#process!.output();
  }

  /** Returns how many rows each table has. */
  countRows(): Promise<Record<string, number>> {
    return countFormerTables(this.#database.url);
  }

  async addProvider(row: { provider_id: string } & Record<string, unknown>, secret: string | null): Promise<string> {
    const id = randomUUID();
    await this.#insert('oauth_provider', {
      id,
      organization_id: ORGANIZATION,
      name: row.provider_id,
      client_id: 'runyard',
      sealed_client_secret: secret && this.#cipher.encrypt(secret, `oauth-provider/${id}/client-secret`),
      auth_url: 'https://provider.example.com/auth',
      token_url: 'https://provider.example.com/token',
      uses_pkce: true,
      code_challenge_method: 'S256',
      token_endpoint_auth_method: 'client_secret_post',
      created_by: randomUUID(),
      ...row,
    });
    return id;
  }

  /** @param secrets what was encrypted; the first release had no metadata among it */
  async addToken(providerUuid: string, owner: string | null, secrets: object, row: object = {}): Promise<string> {
    const id = randomUUID();
    await this.#insert('oauth_token', {
      id,
      organization_id: ORGANIZATION,
      provider_uuid: providerUuid,
      owner,
      subject: '',
      sealed: this.#cipher.encrypt(JSON.stringify(secrets), `oauth-token/${ORGANIZATION}/${id}`),
      scopes: ['repo'],
      asked_scopes: ['repo'],
      metadata: {},
      is_default: true,
      ...row,
    });
    return id;
  }

  async addConnection(providerUuid: string, tokenId: string, agentId: string, createdBy: string): Promise<void> {
    await this.#insert('oauth_agent_connection', {
      id: randomUUID(),
      organization_id: ORGANIZATION,
      workspace_id: WORKSPACE,
      agent_id: agentId,
      token_id: tokenId,
      provider_uuid: providerUuid,
      created_by: createdBy,
    });
  }

  /** Adds a flow that nobody has begun, and returns its id. */
  async addFlow(providerUuid: string, owner: string, redirectUri: string, codeVerifier: string): Promise<string> {
    const id = randomUUID();
    await this.#insert('oauth_flow', {
      id,
      organization_id: ORGANIZATION,
      owner,
      subject: '',
      provider_uuid: providerUuid,
      state_digest: createHash('sha256').update('nobody has begun').digest(),
      sealed_code_verifier: this.#cipher.encrypt(codeVerifier, `oauth-flow/${id}/code-verifier`),
      redirect_uri: redirectUri,
      scopes: ['repo'],
      is_default: true,
      status: 'pending',
      expires_at: new Date(Date.now() + 3_600_000),
    });
    return id;
  }

  async query(text: string): Promise<void> {
    await withDatabaseClient(this.#database.url, (client) => client.query(text));
  }

  async #insert(table: string, row: Record<string, unknown>): Promise<void> {
    const columns = Object.keys(row);
    const places = columns.map((_, index) => `$${index + 1}`);
    await withDatabaseClient(this.#database.url, (client) =>
      client.query(`INSERT INTO ${table} (${columns}) VALUES (${places})`, Object.values(row)),
    );
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
    this.#process = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#database.close();
    await this.#redis.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
