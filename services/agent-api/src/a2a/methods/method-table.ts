import type { A2aPushConfig, A2aStreamEvent, A2aTask, Permission } from '@runyard/contracts';
import type { Fields } from '../../http/fields.ts';
import type { AgentCards } from '../cards/agent-cards.ts';
import { toV03Event, toV03PushConfig, toV03Task } from '../protocol/v03-forms.ts';
import { toV03HttpEvent, toV03HttpPushConfig, toV03HttpTask } from '../protocol/v03-http-forms.ts';
import { createPushParamsOfV03, pushParamsOfV03, sendParamsOfV03 } from '../protocol/v03-params.ts';
import type { A2aForm } from '../protocol/versions.ts';
import type { Call } from './access.ts';
import { type Outcome, value } from './outcome.ts';
import type { PushMethods } from './push-methods.ts';
import type { TaskMethods } from './task-methods.ts';

/** A method of A2A, as every binding calls it. */
export interface Method {
  permission: Permission;
  run(call: Call, params: Fields): Promise<Outcome>;
  /** Returns the result of a call in the form of its answer. */
  resultOf: Record<A2aForm, (result: unknown) => unknown>;
  /** Brings parameters of 0.3 into the form of 1.0. */
  paramsOfV03?: (params: Fields) => Fields;
}

export type MethodName = keyof ReturnType<typeof methodTable>;

/** Names of 0.3. It has none for `ListTasks`. */
export const V03_NAMES: Readonly<Record<string, MethodName>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': 'GetExtendedAgentCard',
};

const same = (result: unknown) => result;
const unchanged = { '1.0': same, '0.3': same, '0.3 HTTP': same };
const task = {
  '1.0': same,
  '0.3': (result: unknown) => toV03Task(result as A2aTask),
  '0.3 HTTP': (result: unknown) => toV03HttpTask(result as A2aTask),
};
/** A task or a message: JSON-RPC of 0.3 has it bare. */
const sent = {
  '1.0': same,
  '0.3': (result: unknown) => toV03Event(result as A2aStreamEvent),
  '0.3 HTTP': (result: unknown) => toV03HttpEvent(result as A2aStreamEvent),
};
const config = {
  '1.0': same,
  '0.3': (result: unknown) => toV03PushConfig(result as A2aPushConfig),
  '0.3 HTTP': (result: unknown) => toV03HttpPushConfig(result as A2aPushConfig),
};
const configsOf = (result: unknown) => (result as { configs: A2aPushConfig[] }).configs;

export function methodTable(tasks: TaskMethods, push: PushMethods, cards: AgentCards) {
  return {
    SendMessage: {
      permission: 'runs:create',
      run: (call, params) => tasks.send(call, params),
      resultOf: sent,
      paramsOfV03: sendParamsOfV03,
    },
    SendStreamingMessage: {
      permission: 'runs:create',
      run: (call, params) => tasks.stream(call, params),
      resultOf: task,
      paramsOfV03: sendParamsOfV03,
    },
    GetTask: { permission: 'runs:read', run: (call, params) => tasks.get(call, params), resultOf: task },
    ListTasks: {
      permission: 'runs:read',
      run: (call, params) => tasks.list(call, params),
      resultOf: {
        ...unchanged,
        '0.3': (result) => {
          const page = result as { tasks: A2aTask[] };
          return { ...page, tasks: page.tasks.map(toV03Task) };
        },
      },
    },
    CancelTask: { permission: 'runs:update', run: (call, params) => tasks.cancel(call, params), resultOf: task },
    SubscribeToTask: { permission: 'runs:read', run: (call, params) => tasks.subscribe(call, params), resultOf: task },
    CreateTaskPushNotificationConfig: {
      permission: 'runs:update',
      run: (call, params) => push.create(call, params),
      resultOf: config,
      paramsOfV03: createPushParamsOfV03,
    },
    GetTaskPushNotificationConfig: {
      permission: 'runs:read',
      run: (call, params) => push.get(call, params),
      resultOf: config,
      paramsOfV03: pushParamsOfV03,
    },
    ListTaskPushNotificationConfigs: {
      permission: 'runs:read',
      run: (call, params) => push.list(call, params),
      resultOf: {
        '1.0': same,
        '0.3': (result) => configsOf(result).map(toV03PushConfig),
        '0.3 HTTP': (result) => ({ configs: configsOf(result).map(toV03HttpPushConfig), nextPageToken: '' }),
      },
      paramsOfV03: pushParamsOfV03,
    },
    DeleteTaskPushNotificationConfig: {
      permission: 'runs:update',
      run: (call, params) => push.delete(call, params),
      resultOf: unchanged,
      paramsOfV03: pushParamsOfV03,
    },
    GetExtendedAgentCard: {
      permission: 'runs:read',
      run: async (call) => {
        const { version, request } = call;
        const asked = version === '1.0' ? version : undefined;
        return value(
          await cards.extendedCard(await tasks.assistant(call), { headers: request.headers, version: asked }),
        );
      },
      resultOf: unchanged,
    },
  } satisfies Record<string, Method>;
}
