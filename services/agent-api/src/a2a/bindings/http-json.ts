import * as contracts from '@runyard/contracts';
import type { GuardedOperation, RouteGuard } from '../../auth/route-guard.ts';
import type { Fields } from '../../http/fields.ts';
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
  queryOf,
  type RestBinding,
  type RestRequest,
  taskOf,
  withoutBody,
} from './rest-call.ts';
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

/** Serves the binding HTTP+JSON of A2A 1.0. */
export function httpJsonRoutes(
  methods: Record<MethodName, Method>,
  tasks: Pick<TaskMethods, 'goOn'>,
  open: OpenResponses,
  guard: RouteGuard,
): GuardedOperation[] {
  const answer = (name: MethodName, toParams: (req: RestRequest) => Fields) => (req: RestRequest) =>
    answerRest(BINDING, methods[name], req, toParams, open);
  const message = answer('SendMessage', bodyOf);
  const stream = answer('SendStreamingMessage', bodyOf);
  const list = answer('ListTasks', queryOf);
  const get = answer('GetTask', (req) => ({ ...queryOf(req), id: req.params.task_id }));
  const cancel = answer('CancelTask', taskOf);
  const subscribe = answer('SubscribeToTask', taskOf);
  const createConfig = answer('CreateTaskPushNotificationConfig', (req) => ({
    ...bodyOf(req),
    taskId: req.params.task_id,
  }));
  const listConfigs = answer('ListTaskPushNotificationConfigs', configOf);
  const getConfig = answer('GetTaskPushNotificationConfig', configOf);
  const deleteConfig = answer('DeleteTaskPushNotificationConfig', configOf);
  const card = answer('GetExtendedAgentCard', queryOf);
  return [
    guard.exempt(contracts.sendA2aMessage, METHODS_ASK, message),
    guard.exempt(contracts.streamA2aMessage, METHODS_ASK, stream),
    guard.exempt(contracts.listA2aTasks, METHODS_ASK, list),
    guard.exempt(contracts.getA2aTask, METHODS_ASK, get),
    guard.exempt(contracts.cancelA2aTask, METHODS_ASK, cancel),
    guard.exempt(contracts.subscribeToA2aTask, METHODS_ASK, (req) => {
      const remainder = readRemainder(req);
      if (!remainder) return subscribe(req);
      // Its result is that of a message; streams have none.
      const form = wireForm(remainder.name, methods.SendMessage);
      const { task_id } = req.params;
      return answerInForm(form, req, open, () => tasks.goOn(callOf(req, '1.0', {}), task_id, remainder));
    }),
    guard.exempt(contracts.subscribeToA2aTaskAlias, METHODS_ASK, subscribe),
    guard.exempt(contracts.createA2aPushConfig, METHODS_ASK, createConfig),
    guard.exempt(contracts.listA2aPushConfigs, METHODS_ASK, listConfigs),
    guard.exempt(contracts.getA2aPushConfig, METHODS_ASK, getConfig),
    guard.exempt(contracts.deleteA2aPushConfig, METHODS_ASK, async (req) => withoutBody(await deleteConfig(req))),
    guard.exempt(contracts.getExtendedAgentCard, METHODS_ASK, card),
  ];
}
