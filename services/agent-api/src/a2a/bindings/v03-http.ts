import * as contracts from '@runyard/contracts';
import { pushConfigOfV03Http, sendParamsOfV03Http } from '../protocol/v03-http-params.ts';
import { bodyOf, configOf, getOf, queryOf, type RestBinding, type RestRequest, taskOf } from './rest-call.ts';
import type { RestRoute } from './rest-routes.ts';

export const V03_HTTP: RestBinding = { version: '0.3', formName: () => ({ form: '0.3 HTTP' }) };

const messageOf = (req: RestRequest) => sendParamsOfV03Http(bodyOf(req));
const newConfigOf = (req: RestRequest) => ({ ...pushConfigOfV03Http(bodyOf(req)), taskId: req.params.task_id });

/** The routes of HTTP+JSON of A2A 0.3, below `/v1`. */
export const V03_HTTP_ROUTES: readonly RestRoute[] = [
  [contracts.sendA2aMessageV03, 'SendMessage', messageOf],
  [contracts.streamA2aMessageV03, 'SendStreamingMessage', messageOf],
  [contracts.getA2aTaskV03, 'GetTask', getOf],
  [contracts.cancelA2aTaskV03, 'CancelTask', taskOf],
  [contracts.subscribeToA2aTaskV03, 'SubscribeToTask', taskOf],
  [contracts.subscribeToA2aTaskV03Alias, 'SubscribeToTask', taskOf],
  [contracts.createA2aPushConfigV03, 'CreateTaskPushNotificationConfig', newConfigOf],
  [contracts.listA2aPushConfigsV03, 'ListTaskPushNotificationConfigs', configOf],
  [contracts.getA2aPushConfigV03, 'GetTaskPushNotificationConfig', configOf],
  [contracts.deleteA2aPushConfigV03, 'DeleteTaskPushNotificationConfig', configOf],
  [contracts.getExtendedAgentCardV03, 'GetExtendedAgentCard', queryOf],
];
