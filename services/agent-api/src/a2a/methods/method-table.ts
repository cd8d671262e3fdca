import type { A2aPushConfig, A2aTask, Permission } from '@runyard/contracts';
import type { AgentCards } from '../cards/agent-cards.ts';
import type { Fields } from '../protocol/read-fields.ts';
import { toV03PushConfig, toV03Task } from '../protocol/v03-forms.ts';
import { createPushParamsOfV03, pushParamsOfV03, sendParamsOfV03 } from '../protocol/v03-params.ts';
import type { Call } from './access.ts';
import { type Outcome, value } from './outcome.ts';
import type { PushMethods } from './push-methods.ts';
import type { TaskMethods } from './task-methods.ts';

/** A method of A2A, as every binding calls it. */
export interface Method {
  permission: Permission;
  run(call: Call, params: Fields): Promise<Outcome>;
  /** Returns the result of a call in the form of its version. */
  resultOf: { '1.0': (result: unknown) => unknown; '0.3': (result: unknown) => unknown };
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
const task = { '1.0': same, '0.3': (result: unknown) => toV03Task(result as A2aTask) };
const config = { '1.0': same, '0.3': (result: unknown) => toV03PushConfig(result as A2aPushConfig) };

export function methodTable(tasks: TaskMethods, push: PushMethods, cards: AgentCards) {
  return {
    SendMessage: {
      permission: 'runs:create',
      run: (call, params) => tasks.send(call, params),
      resultOf: { ...task, '1.0': (result) => ({ task: result }) },
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
        '1.0': same,
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
        '0.3': (result) => (result as { configs: A2aPushConfig[] }).configs.map(toV03PushConfig),
      },
      paramsOfV03: pushParamsOfV03,
    },
    DeleteTaskPushNotificationConfig: {
      permission: 'runs:update',
      run: (call, params) => push.delete(call, params),
      resultOf: { '1.0': same, '0.3': same },
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
      resultOf: { '1.0': same, '0.3': same },
    },
  } satisfies Record<string, Method>;
}
