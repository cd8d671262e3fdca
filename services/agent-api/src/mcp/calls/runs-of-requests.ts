import type pg from 'pg';

/** A run of a call that is no task of its client. */
export interface RunOfRequest {
  threadId: string;
  runId: string;
  /** The task of a call that may wait for answers: its client knows nothing of it. Null for other calls. */
  taskId: string | null;
}

/** Finds the runs of requests, for clients that cancel a request by its id. */
export class RunsOfRequests {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Returns the newest run of a request, whether or not it has ended: the call may wait for answers. */
  async find(requestKey: string): Promise<RunOfRequest | undefined> {
    const { rows } = await this.#pool.query<RunOfRequest>({
      name: 'agent_api_run_of_request',
      text: `SELECT thread_id AS "threadId", run_id AS "runId", metadata ->> 'task_id' AS "taskId" FROM run
             WHERE metadata ? 'mcp_request' AND metadata ->> 'mcp_request' = $1 ORDER BY seq DESC LIMIT 1`,
      values: [requestKey],
    });
    return rows[0];
  }
}
