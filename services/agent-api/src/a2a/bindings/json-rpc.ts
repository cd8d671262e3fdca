import { callA2a, type Operation } from '@runyard/contracts';
import { type HandlerRequest, NotFoundError, ok, type Reply, requirePermission } from '@runyard/service-kit';
import type { GuardedOperation, RouteGuard } from '../../auth/route-guard.ts';
import { type Fields, isFields } from '../../http/fields.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import { type Call, METHODS_ASK } from '../methods/access.ts';
import { type Method, type MethodName, V03_NAMES } from '../methods/method-table.ts';
import { A2aError, toRpcError } from '../protocol/a2a-error.ts';
import { camelKeys, optionalText } from '../protocol/read-fields.ts';
import { type A2aVersion, requestedVersion } from '../protocol/versions.ts';
import { activateExtensions } from './activate-extensions.ts';
import { rememberCallId } from './call-ids.ts';
import { sendOutcome } from './send-outcome.ts';
import { toA2aError } from './to-a2a-error.ts';
import { type CallId, wireForm } from './wire-form.ts';

type RpcRequest = HandlerRequest<{ assistant_id: string }, unknown, unknown>;

interface RpcCall {
  id: CallId;
  name: string;
  method: Method;
  /** True for a name of 0.3. */
  isOldName: boolean;
  params: Fields;
}

/**
 * Serves JSON-RPC. A method of 0.3, and a request that names no version, is answered in the form of 0.3: other agent
 * servers answer so. Failures of the protocol are answers with the status 200.
 */
export function jsonRpcRoute(
  methods: Record<MethodName, Method>,
  open: OpenResponses,
  guard: RouteGuard,
): GuardedOperation {
  return guard.exempt(callA2a, METHODS_ASK, async (req) => {
    const id = isFields(req.body) && isCallId(req.body.id) ? req.body.id : null;
    rememberCallId(req.raw, id);
    try {
      const call = readCall(req.body, methods);
      const version = versionOf(call, requestedVersion(req.headers, req.raw.url));
      return await answer(call, version, req, open);
    } catch (error) {
      const failure =
        error instanceof NotFoundError ? new A2aError('INVALID_PARAMS', error.message) : toA2aError(error);
      if (!failure) throw error;
      return failed(id, failure);
    }
  });
}

async function answer(
  { id, name, method, isOldName, params }: RpcCall,
  version: A2aVersion,
  req: RpcRequest,
  open: OpenResponses,
): Promise<Reply | undefined> {
  requirePermission(req.caller, method.permission);
  activateExtensions(req);
  const given = camelKeys(params);
  const tenant = optionalText(given, 'tenant', 'params');
  // The id of a call may be new when it is made again.
  const { raw, res, caller, query } = req;
  const request = { raw, res, caller, params: req.params, query, body: { method: name, params } };
  const creation = { operation: callA2a as unknown as Operation, request };
  const call: Call = { assistant: req.params.assistant_id, request: req, version, tenant, creation };
  const read = (isOldName ? method.paramsOfV03 : undefined) ?? ((same: Fields) => same);
  const outcome = await method.run(call, read(given));
  return sendOutcome(outcome, wireForm({ form: version, id }, method), req, open);
}

/** @throws A2aError */
function readCall(body: unknown, methods: Record<MethodName, Method>): RpcCall {
  if (!isFields(body)) throw new A2aError('INVALID_REQUEST', 'The request must be one object; batches are not taken');
  const { jsonrpc, id, method: name, params = {} } = body;
  if (jsonrpc !== '2.0') throw new A2aError('INVALID_REQUEST', 'jsonrpc must be "2.0"');
  if (!isCallId(id)) throw new A2aError('INVALID_REQUEST', 'id must be a text or a whole number');
  if (typeof name !== 'string') throw new A2aError('INVALID_REQUEST', 'method must be a text');
  const known = Object.hasOwn(V03_NAMES, name) ? V03_NAMES[name] : Object.hasOwn(methods, name) ? name : undefined;
  if (known === undefined) throw new A2aError('METHOD_NOT_FOUND', `There is no method ${name}`);
  if (!isFields(params)) throw new A2aError('INVALID_PARAMS', 'params must be an object');
  return { id, name, method: methods[known as MethodName], isOldName: known !== name, params };
}

function versionOf({ isOldName }: RpcCall, requested: A2aVersion | undefined): A2aVersion {
  return isOldName ? '0.3' : (requested ?? '0.3');
}

function isCallId(id: unknown): id is CallId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
}

function failed(id: CallId | null, error: A2aError): Reply {
  return ok({ jsonrpc: '2.0', id, error: toRpcError(error) });
}
