import type { Feedback, FeedbackBody } from '@runyard/contracts';
import { isForeignKeyViolation, toSqlJson, toSqlText } from '@runyard/database';
import { NotFoundError, TooManyRequestsError } from '@runyard/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { toWireTime } from '../http/wire-time.ts';
import type { FeedbackSubject } from './feedback-tokens.ts';

/** Limits the feedback that one URL can leave behind: enough for a group of people, no room for a flood. */
const PER_KEY_MAX = 100;

interface Row extends Omit<Feedback, 'created_at'> {
  created_at: Date;
}

const COLUMNS = 'feedback_id, run_id, key, score, value, comment, correction, metadata, created_at';

/** Keeps feedback in the deployment's database, with its run. */
export class FeedbackStore {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** @throws NotFoundError when the run was deleted, TooManyRequestsError when the key has enough feedback */
  async add({ runId, key }: FeedbackSubject, { score, value, comment, correction, metadata }: FeedbackBody) {
    try {
      const { rows } = await this.#pool.query<Row>({
        name: 'agent_api_add_feedback',
        text: `INSERT INTO run_feedback (feedback_id, run_id, key, score, value, comment, correction, metadata)
               SELECT $1, $2, $3, $4, $5, $6, $7, $8
               WHERE (SELECT count(*) FROM run_feedback WHERE run_id = $2 AND key = $3) < ${PER_KEY_MAX}
               RETURNING ${COLUMNS}`,
        values: [
          uuidv7(),
          runId,
          toSqlText(key),
          toSqlJson(score ?? null),
          toSqlJson(value ?? null),
          comment === undefined || comment === null ? null : toSqlText(comment),
          toSqlJson(correction ?? null),
          toSqlJson(metadata ?? {}),
        ],
      });
      if (!rows[0])
        throw new TooManyRequestsError('There is as much feedback on this key of the run as is kept', {
          code: 'feedback_full',
        });
      return ofRow(rows[0]);
    } catch (error) {
      if (isForeignKeyViolation(error)) throw new NotFoundError('Run not found', { cause: error });
      throw error;
    }
  }

  /** Returns the feedback of a run, oldest first. */
  async list(runId: string): Promise<Feedback[]> {
    const { rows } = await this.#pool.query<Row>({
      name: 'agent_api_list_feedback',
      text: `SELECT ${COLUMNS} FROM run_feedback WHERE run_id = $1 ORDER BY created_at, feedback_id`,
      values: [runId],
    });
    return rows.map(ofRow);
  }
}

function ofRow(row: Row): Feedback {
  return { ...row, created_at: toWireTime(row.created_at) };
}
