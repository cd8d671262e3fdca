import { randomUUID } from 'node:crypto';
import type { A2aPushConfig } from '@runyard/contracts';
import type { PushConfig, PushConfigs, PushSecrets } from '@runyard/run-engine';
import { UnprocessableError } from '@runyard/service-kit';
import { type Fields, isFields } from '../../http/fields.ts';
import { isAppPath, type WebhookTargets } from '../../webhooks/webhook-targets.ts';
import { A2aError, invalidParams } from '../protocol/a2a-error.ts';
import { optionalText, requireText } from '../protocol/read-fields.ts';
import type { A2aVersion } from '../protocol/versions.ts';
import type { TaskRecord } from '../tasks/task-record.ts';

/** Ids and credentials are sent in headers: they have one line. */
const LINE = /^[\x20-\x7e]{1,4096}$/;
/** Characters of an id: it is a key of an index. */
const ID_MAX = 512;

export interface PushRequestsOptions {
  configs: PushConfigs;
  targets: Pick<WebhookTargets, 'accept'>;
  /** False when the deployment sends no webhooks. */
  isEnabled: boolean;
}

/** Keeps the places where clients want the ends of tasks sent. Callers have found the task within their scope. */
export class PushRequests {
  readonly #options: PushRequestsOptions;

  constructor(options: PushRequestsOptions) {
    this.#options = options;
  }

  /** Checks a configuration that a client sends, and its URL. @throws A2aError */
  async accept(
    fields: Fields,
    { taskId, version }: { taskId: string; version: A2aVersion },
  ): Promise<Omit<PushConfig, 'threadId'>> {
    this.requireEnabled();
    const url = requireText(fields, 'url', 'pushNotificationConfig');
    if (isAppPath(url) || !URL.canParse(url)) throw invalidParams('url', 'must be an absolute URL');
    const [target] = await this.#options.targets.accept(url).catch((error: unknown) => {
      if (error instanceof UnprocessableError) throw invalidParams('url', error.message);
      throw error;
    });
    if (!target || target.refusal !== undefined) throw invalidParams('url', target?.refusal ?? 'is not allowed');
    // Clients may choose the id; they replace a configuration by its id.
    const configId = line(fields, 'id') ?? randomUUID();
    if (configId.length > ID_MAX) throw invalidParams('id', `must have at most ${ID_MAX} characters`);
    return { taskId, configId, version, url: target.url, host: target.host, secrets: secretsOf(fields) };
  }

  /**
   * Returns the configuration with what was sent of it; others show none of its secrets.
   *
   * @throws A2aError, TooManyPushConfigsError
   */
  async create(task: TaskRecord, fields: Fields, version: A2aVersion): Promise<A2aPushConfig> {
    const config = await this.accept(fields, { taskId: task.taskId, version });
    await this.#options.configs.store({ ...config, threadId: task.contextId });
    const { token, authentication } = config.secrets;
    return { ...toWire(config), ...(token !== undefined && { token }), ...(authentication && { authentication }) };
  }

  /** Leaves out the credentials of receivers: whoever may read a task need not be whose receiver it is. */
  async list({ taskId }: TaskRecord): Promise<A2aPushConfig[]> {
    return (await this.#options.configs.list(taskId)).map(toWire);
  }

  /** Without an id it returns the oldest, as 0.3 allows. @throws A2aError */
  async get(task: TaskRecord, configId: string | undefined): Promise<A2aPushConfig> {
    const configs = await this.list(task);
    const config = configId === undefined ? configs[0] : configs.find(({ id }) => id === configId);
    if (config) return config;
    throw new A2aError('TASK_NOT_FOUND', `Task ${task.taskId} has no such push notification configuration`);
  }

  /** Deleting what is not there does nothing. */
  async delete({ taskId }: TaskRecord, configId: string): Promise<void> {
    await this.#options.configs.delete(taskId, configId);
  }

  /** @throws A2aError when the deployment sends no webhooks */
  requireEnabled(): void {
    if (this.#options.isEnabled) return;
    throw new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'This deployment sends no push notifications');
  }
}

function toWire({ configId: id, taskId, url, secrets }: Omit<PushConfig, 'threadId'>): A2aPushConfig {
  const { authentication } = secrets;
  return { id, taskId, url, ...(authentication && { authentication: { scheme: authentication.scheme } }) };
}

/** @throws A2aError */
function secretsOf(fields: Fields): PushSecrets {
  const token = line(fields, 'token');
  const { authentication } = fields;
  if (authentication === undefined || authentication === null) return { ...(token !== undefined && { token }) };
  if (!isFields(authentication)) throw invalidParams('authentication', 'must be an object');
  const scheme = line(authentication, 'scheme');
  if (scheme === undefined) throw invalidParams('authentication.scheme', 'is missing');
  const credentials = line(authentication, 'credentials');
  return {
    ...(token !== undefined && { token }),
    authentication: { scheme, ...(credentials !== undefined && { credentials }) },
  };
}

function line(fields: Fields, name: string): string | undefined {
  const text = optionalText(fields, name, 'pushNotificationConfig');
  if (text === undefined || LINE.test(text)) return text;
  throw invalidParams(name, 'must be one line of printable ASCII');
}
