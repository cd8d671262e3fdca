import * as contracts from '@runyard/contracts';
import type { GuardedOperation, RouteGuard } from '../../auth/route-guard.ts';
import type { Fields } from '../../http/fields.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import { METHODS_ASK } from '../methods/access.ts';
import type { Method, MethodName } from '../methods/method-table.ts';
import { pushConfigOfV03Http, sendParamsOfV03Http } from '../protocol/v03-http-params.ts';
import {
  answerRest,
  bodyOf,
  configOf,
  queryOf,
  type RestBinding,
  type RestRequest,
  taskOf,
  withoutBody,
} from './rest-call.ts';

const BINDING: RestBinding = { version: '0.3', formName: () => ({ form: '0.3 HTTP' }) };

/** Serves HTTP+JSON of A2A 0.3, below `/v1`. */
export function v03HttpRoutes(
  methods: Record<MethodName, Method>,
  open: OpenResponses,
  guard: RouteGuard,
): GuardedOperation[] {
  const answer = (name: MethodName, toParams: (req: RestRequest) => Fields) => (req: RestRequest) =>
    answerRest(BINDING, methods[name], req, toParams, open);
  const message = answer('SendMessage', (req) => sendParamsOfV03Http(bodyOf(req)));
  const stream = answer('SendStreamingMessage', (req) => sendParamsOfV03Http(bodyOf(req)));
  const get = answer('GetTask', (req) => ({ ...queryOf(req), id: req.params.task_id }));
  const cancel = answer('CancelTask', taskOf);
  const subscribe = answer('SubscribeToTask', taskOf);
  const createConfig = answer('CreateTaskPushNotificationConfig', (req) => ({
    ...pushConfigOfV03Http(bodyOf(req)),
    taskId: req.params.task_id,
  }));
  const listConfigs = answer('ListTaskPushNotificationConfigs', configOf);
  const getConfig = answer('GetTaskPushNotificationConfig', configOf);
  const deleteConfig = answer('DeleteTaskPushNotificationConfig', configOf);
  const card = answer('GetExtendedAgentCard', queryOf);
  return [
    guard.exempt(contracts.sendA2aMessageV03, METHODS_ASK, message),
    guard.exempt(contracts.streamA2aMessageV03, METHODS_ASK, stream),
    guard.exempt(contracts.getA2aTaskV03, METHODS_ASK, get),
    guard.exempt(contracts.cancelA2aTaskV03, METHODS_ASK, cancel),
    guard.exempt(contracts.subscribeToA2aTaskV03, METHODS_ASK, subscribe),
    guard.exempt(contracts.subscribeToA2aTaskV03Alias, METHODS_ASK, subscribe),
    guard.exempt(contracts.createA2aPushConfigV03, METHODS_ASK, createConfig),
    guard.exempt(contracts.listA2aPushConfigsV03, METHODS_ASK, listConfigs),
    guard.exempt(contracts.getA2aPushConfigV03, METHODS_ASK, getConfig),
    guard.exempt(contracts.deleteA2aPushConfigV03, METHODS_ASK, async (req) => withoutBody(await deleteConfig(req))),
    guard.exempt(contracts.getExtendedAgentCardV03, METHODS_ASK, card),
  ];
}
