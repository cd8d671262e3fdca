import * as contracts from '@runyard/contracts';
import { type HandlerRequest, noContent, type Reply } from '@runyard/service-kit';
import type { GuardedOperation, RouteGuard } from '../../auth/route-guard.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import { type Call, METHODS_ASK } from '../methods/access.ts';
import type { Method, MethodName } from '../methods/method-table.ts';
import { A2aError, toHttpErrorBody } from '../protocol/a2a-error.ts';
import { camelKeys, type Fields, isFields } from '../protocol/read-fields.ts';
import { requestedVersion } from '../protocol/versions.ts';
import { activateExtensions } from './activate-extensions.ts';
import { sendOutcome, type WireForm } from './send-outcome.ts';
import { toA2aError } from './to-a2a-error.ts';

type Params = { assistant_id: string; task_id?: string; config_id?: string };
type RestRequest = HandlerRequest<Params, unknown, unknown>;

const MEDIA_TYPE = 'application/a2a+json';

/** Serves the binding HTTP+JSON of A2A 1.0. */
export function httpJsonRoutes(
  methods: Record<MethodName, Method>,
  open: OpenResponses,
  guard: RouteGuard,
): GuardedOperation[] {
  const answer = (name: MethodName, toParams: (req: RestRequest) => Fields) => (req: RestRequest) =>
    call(methods[name], req, toParams, open);
  const message = answer('SendMessage', bodyOf);
  const stream = answer('SendStreamingMessage', bodyOf);
  const list = answer('ListTasks', queryOf);
  const get = answer('GetTask', (req) => ({ ...queryOf(req), id: req.params.task_id }));
  const cancel = answer('CancelTask', idOf);
  const subscribe = answer('SubscribeToTask', idOf);
  const createConfig = answer('CreateTaskPushNotificationConfig', (req) => ({
    ...bodyOf(req),
    taskId: req.params.task_id,
  }));
  const listConfigs = answer('ListTaskPushNotificationConfigs', configOf);
  const getConfig = answer('GetTaskPushNotificationConfig', configOf);
  const deleteConfig = answer('DeleteTaskPushNotificationConfig', configOf);
  return [
    guard.exempt(contracts.sendA2aMessage, METHODS_ASK, message),
    guard.exempt(contracts.streamA2aMessage, METHODS_ASK, stream),
    guard.exempt(contracts.listA2aTasks, METHODS_ASK, list),
    guard.exempt(contracts.getA2aTask, METHODS_ASK, get),
    guard.exempt(contracts.cancelA2aTask, METHODS_ASK, cancel),
    guard.exempt(contracts.subscribeToA2aTask, METHODS_ASK, subscribe),
    guard.exempt(contracts.subscribeToA2aTaskAlias, METHODS_ASK, subscribe),
    guard.exempt(contracts.createA2aPushConfig, METHODS_ASK, createConfig),
    guard.exempt(contracts.listA2aPushConfigs, METHODS_ASK, listConfigs),
    guard.exempt(contracts.getA2aPushConfig, METHODS_ASK, getConfig),
    guard.exempt(contracts.deleteA2aPushConfig, METHODS_ASK, async (req) => {
      const reply = await deleteConfig(req);
      return reply?.status === 200 ? noContent() : reply;
    }),
    guard.exempt(
      contracts.getExtendedAgentCard,
      METHODS_ASK,
      answer('GetExtendedAgentCard', () => ({})),
    ),
  ];
}

async function call(
  method: Method,
  req: RestRequest,
  toParams: (req: RestRequest) => Fields,
  open: OpenResponses,
): Promise<Reply | undefined> {
  try {
    requireVersion(req);
    activateExtensions(req);
    const about: Call = { assistant: req.params.assistant_id, request: req, version: '1.0' };
    const outcome = await method.run(about, toParams(req));
    return await sendOutcome(outcome, formOf(method, req), req, open);
  } catch (error) {
    const failure = toA2aError(error);
    if (!failure) throw error;
    return { status: failure.status, body: toHttpErrorBody(failure.status, failure.message, failure) };
  }
}

/** The paths are those of 1.0: a request without a version means it. @throws A2aError */
function requireVersion({ headers, raw }: RestRequest): void {
  if (requestedVersion(headers, raw.url) !== '0.3') return;
  throw new A2aError('VERSION_NOT_SUPPORTED', 'HTTP+JSON is spoken in version 1.0; 0.3 is by JSON-RPC');
}

/** Answers in the media type of A2A go to those who ask for it: others expect plain JSON. */
function formOf(method: Method, { headers }: RestRequest): WireForm {
  return {
    contentType: headers.accept?.includes(MEDIA_TYPE) ? MEDIA_TYPE : 'application/json',
    result: (value) => method.resultOf['1.0'](value),
    event: (event) => event,
    failure: (error) => toHttpErrorBody(error.status, error.message, error),
  };
}

function bodyOf({ body }: RestRequest): Fields {
  return isFields(body) ? camelKeys(body) : {};
}

/** Reads the query with names in either case, of which the contract has one. */
function queryOf({ raw }: RestRequest): Fields {
  const at = raw.url.indexOf('?');
  return at < 0 ? {} : camelKeys(Object.fromEntries(new URLSearchParams(raw.url.slice(at + 1))));
}

function idOf({ params }: RestRequest): Fields {
  return { id: params.task_id };
}

function configOf({ params }: RestRequest): Fields {
  return { taskId: params.task_id, id: params.config_id };
}
