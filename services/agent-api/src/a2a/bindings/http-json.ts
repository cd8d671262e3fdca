import * as contracts from '@runyard/contracts';
import type { GuardedOperation, RouteGuard } from '../../auth/route-guard.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import { METHODS_ASK } from '../methods/access.ts';
import type { Method, MethodName } from '../methods/method-table.ts';
import type { TaskMethods } from '../methods/task-methods.ts';
import { readRemainder } from './remainder-path.ts';
import {
  answerInForm,
  answerRest,
  bodyOf,
  callOf,
  configOf,
  getOf,
  queryOf,
  type RestBinding,
  type RestRequest,
  taskOf,
} from './rest-call.ts';
import { type RestRoute, restRoutes } from './rest-routes.ts';
import { wireForm } from './wire-form.ts';

const MEDIA_TYPE = 'application/a2a+json';

const BINDING: RestBinding = {
  version: '1.0',
  /** Answers in the media type of A2A go to those who ask for it: others expect plain JSON. */
  formName: ({ headers }) => ({
    form: '1.0',
    contentType: headers.accept?.includes(MEDIA_TYPE) ? MEDIA_TYPE : 'application/json',
  }),
};

const newConfigOf = (req: RestRequest) => ({ ...bodyOf(req), taskId: req.params.task_id });

const ROUTES: readonly RestRoute[] = [
  [contracts.sendA2aMessage, 'SendMessage', bodyOf],
  [contracts.streamA2aMessage, 'SendStreamingMessage', bodyOf],
  [contracts.listA2aTasks, 'ListTasks', queryOf],
  [contracts.getA2aTask, 'GetTask', getOf],
  [contracts.cancelA2aTask, 'CancelTask', taskOf],
  [contracts.subscribeToA2aTaskAlias, 'SubscribeToTask', taskOf],
  [contracts.createA2aPushConfig, 'CreateTaskPushNotificationConfig', newConfigOf],
  [contracts.listA2aPushConfigs, 'ListTaskPushNotificationConfigs', configOf],
  [contracts.getA2aPushConfig, 'GetTaskPushNotificationConfig', configOf],
  [contracts.deleteA2aPushConfig, 'DeleteTaskPushNotificationConfig', configOf],
  [contracts.getExtendedAgentCard, 'GetExtendedAgentCard', queryOf],
];

export interface HttpJsonParts {
  methods: Record<MethodName, Method>;
  tasks: Pick<TaskMethods, 'goOn'>;
  open: OpenResponses;
  guard: RouteGuard;
}

/** Serves the binding HTTP+JSON of A2A 1.0. */
export function httpJsonRoutes(parts: HttpJsonParts): GuardedOperation[] {
  const { methods, tasks, open, guard } = parts;
  const subscribing = {
    operation: contracts.subscribeToA2aTask as unknown as contracts.Operation,
    method: methods.SubscribeToTask,
    toParams: taskOf,
  };
  const subscribe = guard.exempt(contracts.subscribeToA2aTask, METHODS_ASK, (req) => {
    const remainder = readRemainder(req);
    if (!remainder) return answerRest(BINDING, subscribing, req, open);
    // Its result is that of a message; streams have none.
    const form = wireForm(remainder.name, methods.SendMessage);
    const { task_id } = req.params;
    return answerInForm(form, req, open, () => tasks.goOn(callOf(req, '1.0', {}), task_id, remainder));
  });
  return [...restRoutes(BINDING, ROUTES, parts), subscribe];
}
