import { isForeignKeyViolation, withTransaction } from '@runyard/database';
import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import { NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import { TooManyPushConfigsError } from '../errors.ts';
import { lockThreads } from '../locks.ts';
import { decodeSecrets } from '../webhooks/push-secrets.ts';
import type { PushConfig, PushVersion } from '../webhooks/push-types.ts';
import { findFullTasks, PUSH_CONFIGS_MAX, storePushConfigs } from './store-push-configs.ts';
import { encodePushConfig } from './stored-push-config.ts';

interface Row {
  task_id: string;
  config_id: string;
  thread_id: string;
  url: string;
  host: string;
  secrets: Buffer;
  wire_version: PushVersion;
}

/** The places where the ends of tasks are sent. Callers have made sure that they may see the task. */
export class PushConfigs {
  readonly #pool: pg.Pool;
  readonly #cipher: DataCipher;

  constructor(pool: pg.Pool, cipher: DataCipher = NO_ENCRYPTION) {
    this.#pool = pool;
    this.#cipher = cipher;
  }

  /**
   * Stores a configuration; one with its id is replaced.
   *
   * @throws TooManyPushConfigsError; NotFoundError when the task was deleted
   */
  async store(config: PushConfig): Promise<void> {
    const stored = encodePushConfig(config, this.#cipher);
    try {
      await withTransaction(this.#pool, async (client) => {
        await lockThreads(client, [config.threadId]);
        if ((await findFullTasks(client, [stored])).size > 0) throw new TooManyPushConfigsError(PUSH_CONFIGS_MAX);
        await storePushConfigs(client, [stored]);
      });
    } catch (error) {
      if (isForeignKeyViolation(error)) throw new NotFoundError('Task not found', { cause: error });
      throw error;
    }
  }

  /** Returns the configurations of a task, oldest first. @throws EncryptionError */
  async list(taskId: string): Promise<PushConfig[]> {
    const { rows } = await this.#pool.query<Row>({
      name: 'push_configs_of_task',
      text: `SELECT task_id, config_id, thread_id, url, host, secrets, wire_version FROM a2a_push_config
             WHERE task_id = $1 ORDER BY created_at, config_id`,
      values: [taskId],
    });
    return rows.map((row) => ({
      taskId: row.task_id,
      configId: row.config_id,
      threadId: row.thread_id,
      url: row.url,
      host: row.host,
      version: row.wire_version,
      secrets: decodeSecrets(row.secrets, this.#cipher),
    }));
  }

  /** Returns false when there was none. */
  async delete(taskId: string, configId: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      name: 'push_configs_delete',
      text: 'DELETE FROM a2a_push_config WHERE task_id = $1 AND config_id = $2',
      values: [taskId, configId],
    });
    return rowCount === 1;
  }
}
