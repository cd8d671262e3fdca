import type { Pool } from 'pg';

/** An agent-api process that a worker of its deployment can call. */
export interface ApiServer {
  serverId: string;
  /** Base URL, without a slash at its end. */
  url: string;
  /** Authenticates with the rights of the deployment's own code. */
  token: string;
  /** The revision it serves. */
  revisionId: string | null;
}

/** Milliseconds between announcements that keep a process registered. */
export const REGISTER_EVERY_MS = 10_000;
const EXPIRED_AFTER_SECONDS = 30;

/** The registered agent-api processes of the deployment. All times are the database's. */
export class ApiServers {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Registers the process, or renews its registration. */
  async register({ serverId, url, token, revisionId }: ApiServer): Promise<void> {
    await this.#pool.query(
      `WITH long_expired AS (DELETE FROM api_server WHERE seen_at < now() - make_interval(secs => 10 * $5::int) AND server_id <> $1)
       INSERT INTO api_server (server_id, url, token, revision_id) VALUES ($1, $2, $3, $4)
       ON CONFLICT (server_id) DO UPDATE SET seen_at = now()`,
      [serverId, url, token, revisionId, EXPIRED_AFTER_SECONDS],
    );
  }

  async deregister(serverId: string): Promise<void> {
    await this.#pool.query('DELETE FROM api_server WHERE server_id = $1', [serverId]);
  }

  /** Returns any live process, one of the given revision if possible. */
  async find(revisionId: string): Promise<ApiServer | undefined> {
    const { rows } = await this.#pool.query<ApiServer>(
      `SELECT server_id AS "serverId", url, token, revision_id AS "revisionId" FROM api_server
       WHERE seen_at > now() - make_interval(secs => $2::int)
       ORDER BY (revision_id IS NOT DISTINCT FROM $1) DESC, random() LIMIT 1`,
      [revisionId, EXPIRED_AFTER_SECONDS],
    );
    return rows[0];
  }
}
