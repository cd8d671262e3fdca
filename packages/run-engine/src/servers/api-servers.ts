import type { Pool } from 'pg';

/** An agent-api process, as a worker of its deployment finds it. */
export interface ApiServer {
  serverId: string;
  /** Base URL, without a slash at its end. */
  url: string;
  /** Opens it with the rights of the deployment's own code. */
  token: string;
  /** The revision it serves. */
  revisionId: string | null;
}

/** Renewing this often keeps a process found. */
export const ANNOUNCE_EVERY_MS = 10_000;
const FORGOTTEN_AFTER_SECONDS = 30;

/** Which processes answer for the deployment. Times are the database's own. */
export class ApiServers {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Puts the process among those that are found, or says that it still is. */
  async announce({ serverId, url, token, revisionId }: ApiServer): Promise<void> {
    await this.#pool.query(
      `WITH long_gone AS (DELETE FROM api_server WHERE seen_at < now() - make_interval(secs => 10 * $5::int) AND server_id <> $1)
       INSERT INTO api_server (server_id, url, token, revision_id) VALUES ($1, $2, $3, $4)
       ON CONFLICT (server_id) DO UPDATE SET seen_at = now()`,
      [serverId, url, token, revisionId, FORGOTTEN_AFTER_SECONDS],
    );
  }

  async withdraw(serverId: string): Promise<void> {
    await this.#pool.query('DELETE FROM api_server WHERE server_id = $1', [serverId]);
  }

  /** Any one that lives, of the given revision if there is one. */
  async find(revisionId: string): Promise<ApiServer | undefined> {
    const { rows } = await this.#pool.query<ApiServer>(
      `SELECT server_id AS "serverId", url, token, revision_id AS "revisionId" FROM api_server
       WHERE seen_at > now() - make_interval(secs => $2::int)
       ORDER BY (revision_id IS NOT DISTINCT FROM $1) DESC, random() LIMIT 1`,
      [revisionId, FORGOTTEN_AFTER_SECONDS],
    );
    return rows[0];
  }
}
