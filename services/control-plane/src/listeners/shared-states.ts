import type { ProcessCounts, SharedState } from '@runyard/contracts';
import { type HostNames, passwordPlace } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import type { Queries } from '../database/database.ts';
import type { Deployment, Prisma } from '../generated/client.ts';
import { storePassword } from '../revisions/database-passwords.ts';

/** Keeps what the platform's own data planes share of their deployments, so that another can take one up. */
export class SharedStates {
  readonly #cipher: Cipher;
  readonly #hosts: Pick<HostNames, 'urlsOf'>;

  constructor(options: { cipher: Cipher; hosts: Pick<HostNames, 'urlsOf'> }) {
    this.#cipher = options.cipher;
    this.#hosts = options.hosts;
  }

  /** Returns the state of each of these deployments. */
  async of(queries: Queries, deployments: readonly Deployment[]): Promise<Map<string, SharedState>> {
    const ids = deployments.map(({ id }) => id);
    const rows = await queries.$queryRaw<{ id: string; counts: ProcessCounts }[]>`
      SELECT deployment_id AS id, jsonb_object_agg(role, count) AS counts
      FROM deployment_scale WHERE deployment_id = ANY(${ids}::uuid[]) GROUP BY deployment_id`;
    const counts = new Map(rows.map((row) => [row.id, row.counts]));
    return new Map(
      deployments.map((row) => [
        row.id,
        {
          database_password: this.#passwordOf(row),
          public_urls: this.#hosts.urlsOf(row),
          process_counts: counts.get(row.id) ?? {},
        },
      ]),
    );
  }

  /** Stores the password unless there is one, and returns the stored one. */
  async storePassword(transaction: Prisma.TransactionClient, id: string, password: string): Promise<string> {
    const stored = await storePassword(transaction, id, this.#cipher.encrypt(password, passwordPlace(id)));
    return this.#cipher.decrypt(stored, passwordPlace(id));
  }

  async storeCounts(transaction: Prisma.TransactionClient, id: string, counts: ProcessCounts): Promise<void> {
    for (const [role, count] of Object.entries(counts)) {
      await transaction.$executeRaw`
        INSERT INTO deployment_scale (deployment_id, role, count) VALUES (${id}::uuid, ${role}, ${count})
        ON CONFLICT (deployment_id, role) DO UPDATE SET count = excluded.count`;
    }
  }

  #passwordOf({ id, encryptedDatabasePassword: encrypted }: Deployment): string | null {
    return encrypted === null ? null : this.#cipher.decrypt(encrypted, passwordPlace(id));
  }
}
