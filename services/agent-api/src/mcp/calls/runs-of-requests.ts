import type pg from 'pg';

/** Finds the runs in flight of requests, for clients that cancel a request by its id. */
export class RunsOfRequests {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Returns nothing for a run that is a task of its client: those are cancelled as such. */
  async find(requestKey: string): Promise<{ threadId: string; runId: string } | undefined> {
    const { rows } = await this.#pool.query<{ threadId: string; runId: string }>({
      name: 'agent_api_run_of_request',
      text: `SELECT thread_id AS "threadId", run_id AS "runId" FROM run
             WHERE status IN ('pending', 'running') AND metadata ->> 'mcp_request' = $1 LIMIT 1`,
      values: [requestKey],
    });
    return rows[0];
  }
}
