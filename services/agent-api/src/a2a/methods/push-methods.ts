import type { Fields } from '../../http/fields.ts';
import { optionalText, requireText } from '../protocol/read-fields.ts';
import type { PushRequests } from '../push/push-requests.ts';
import type { Call } from './access.ts';
import { type Outcome, value } from './outcome.ts';
import type { TaskMethods } from './task-methods.ts';

/** The methods about push notifications. Parameters are in the form of 1.0. */
export class PushMethods {
  readonly #tasks: Pick<TaskMethods, 'task'>;
  readonly #push: PushRequests;

  constructor(tasks: Pick<TaskMethods, 'task'>, push: PushRequests) {
    this.#tasks = tasks;
    this.#push = push;
  }

  async create(call: Call, params: Fields): Promise<Outcome> {
    this.#push.requireEnabled();
    const task = await this.#tasks.task(call, params, 'update');
    return value(await this.#push.create(task, params, call.version));
  }

  async get(call: Call, params: Fields): Promise<Outcome> {
    this.#push.requireEnabled();
    const task = await this.#tasks.task(call, params, 'read');
    return value(await this.#push.get(task, optionalText(params, 'id', 'params')));
  }

  async list(call: Call, params: Fields): Promise<Outcome> {
    this.#push.requireEnabled();
    const task = await this.#tasks.task(call, params, 'read');
    return value({ configs: await this.#push.list(task), nextPageToken: '' });
  }

  async delete(call: Call, params: Fields): Promise<Outcome> {
    this.#push.requireEnabled();
    const configId = requireText(params, 'id');
    await this.#push.delete(await this.#tasks.task(call, params, 'update'), configId);
    return value(null);
  }
}
