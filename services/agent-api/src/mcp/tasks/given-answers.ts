import { toSqlJson } from '@runyard/database';
import type { DataCipher } from '@runyard/encryption';
import type pg from 'pg';
import { IS_NEWEST_OF_THREAD, type ToolTask } from '../../a2a/tasks/task-store.ts';
import { type Fields, isFields } from '../../http/fields.ts';

const KEY = 'mcp_answers';

/**
 * Stores the answers to some of the questions of a task until the rest is there: in the metadata of the run that asks,
 * encrypted where the deployment encrypts. They are base64 without a mark, so that only this class decrypts them, and
 * loads their keys.
 */
export class GivenAnswers {
  readonly #pool: pg.Pool;
  readonly #cipher: DataCipher;

  constructor(pool: pg.Pool, cipher: DataCipher) {
    this.#pool = pool;
    this.#cipher = cipher;
  }

  /**
   * Adds answers, by interrupt, and returns all that there are; undefined when the task does not wait any more. The
   * first answer to an interrupt counts. Callers have found the task within their scope.
   */
  async add({ runId, contextId }: Pick<ToolTask, 'runId' | 'contextId'>, answers: Fields): Promise<Fields | undefined> {
    const { rows } = await this.#pool.query<{ answers: unknown }>({
      name: 'agent_api_give_answers',
      text: `UPDATE run n
             SET metadata = n.metadata || jsonb_build_object('${KEY}', $3::jsonb || coalesce(n.metadata -> '${KEY}', '{}'))
             WHERE n.run_id = $1 AND n.thread_id = $2 AND n.status = 'success' AND ${IS_NEWEST_OF_THREAD}
             RETURNING n.metadata -> '${KEY}' AS answers`,
      values: [runId, contextId, toSqlJson(this.#encrypt(answers))],
    });
    return rows[0] && (await this.#decrypt(rows[0].answers));
  }

  /** Returns the answers that a run has in its metadata. @throws EncryptionError */
  of(metadata: Record<string, unknown>): Promise<Fields> {
    return this.#decrypt(metadata[KEY]);
  }

  #encrypt(answers: Fields): Record<string, string> {
    const encrypt = (value: unknown) => this.#cipher.encrypt(Buffer.from(JSON.stringify(value))).toString('base64');
    return Object.fromEntries(Object.entries(answers).map(([id, value]) => [id, encrypt(value)]));
  }

  async #decrypt(stored: unknown): Promise<Fields> {
    if (!isFields(stored)) return {};
    const encrypted = Object.entries(stored).map(([id, text]) => [id, Buffer.from(String(text), 'base64')] as const);
    await this.#cipher.loadKeys(encrypted);
    const decrypt = (bytes: Buffer): unknown => JSON.parse(this.#cipher.decrypt(bytes).toString());
    return Object.fromEntries(encrypted.map(([id, bytes]) => [id, decrypt(bytes)]));
  }
}
