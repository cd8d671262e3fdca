import { type Logger, PeriodicTask } from '@runyard/service-kit';
import type { Database } from '../../database/database.ts';
import { disableIdentity } from './disable-identity.ts';

const EVERY_MS = 60_000;
/** Accounts of one round; the others wait for the next one. */
const ROUND_MAX = 500;

/**
 * Disables service accounts whose keys have expired: an account ends with its key, also when nobody revokes it. Any
 * number of processes may do so at once. Such an account has no access even before that (`reachesWorkspace`).
 */
export class ExpiredAccountSweeper {
  readonly #database: Database;
  readonly #task: PeriodicTask;

  constructor({ database, logger }: { database: Database; logger: Logger }) {
    this.#database = database;
    this.#task = new PeriodicTask({ name: 'expired accounts', everyMs: EVERY_MS, run: () => this.sweep(), logger });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async sweep(): Promise<void> {
    const expired = await this.#database.prisma.$queryRaw<{ organization_id: string; identity_id: string }[]>`
      SELECT DISTINCT key.organization_id::text, key.identity_id::text
      FROM api_key key JOIN identity ON identity.id = key.identity_id
      WHERE key.expires_at <= now() AND key.revoked_at IS NULL
        AND identity.kind = 'service_account' AND NOT identity.is_bootstrap AND NOT identity.is_standalone
        AND identity.disabled_at IS NULL
        AND NOT EXISTS (
          SELECT FROM api_key other WHERE other.identity_id = key.identity_id AND other.revoked_at IS NULL
            AND (other.expires_at IS NULL OR other.expires_at > now()))
      LIMIT ${ROUND_MAX}`;
    for (const { organization_id, identity_id } of expired) {
      await this.#database.transact((transaction) => disableIdentity(transaction, organization_id, identity_id));
    }
  }
}
