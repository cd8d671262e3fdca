import { callMcp } from '@runyard/contracts';
import { type HandlerRequest, ok, type Reply, requirePermission } from '@runyard/service-kit';
import { rememberCallId } from '../../a2a/bindings/call-ids.ts';
import type { GuardedOperation, RouteGuard } from '../../auth/route-guard.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import { METHODS_ASK } from '../call.ts';
import type { Method, MethodTables } from '../methods/method-table.ts';
import type { ToolMethods } from '../methods/tool-methods.ts';
import { readAccept } from '../protocol/accept.ts';
import { type McpClient, readClient } from '../protocol/client.ts';
import {
  idOf,
  type NotificationFrame,
  type RequestFrame,
  type RequestId,
  type ResponseFrame,
  readFrame,
} from '../protocol/frame.ts';
import { jsonPieces } from '../protocol/json-bytes.ts';
import { invalidRequest, type McpError, methodNotFound, toRpcError } from '../protocol/mcp-error.ts';
import { type OriginRules, requireAllowedOrigin } from '../protocol/origin.ts';
import { toResult } from '../protocol/server.ts';
import type { Sessions } from '../protocol/sessions.ts';
import { requireStandardHeaders } from '../protocol/standard-headers.ts';
import type { OldConversation } from '../tasks/old-conversation.ts';
import { type AnswerForm, sendLater } from './send-later.ts';
import { toMcpError } from './to-mcp-error.ts';

export interface McpRouteOptions {
  methods: MethodTables;
  tools: ToolMethods;
  conversation: OldConversation;
  sessions: Sessions;
  origins: OriginRules;
  open: OpenResponses;
}

type McpRequest = HandlerRequest<unknown, unknown, unknown>;
const ACCEPTED: Reply = { status: 202 };

/** Serves both kinds of revisions at one address. */
export function mcpRoute(options: McpRouteOptions, guard: RouteGuard): GuardedOperation {
  return guard.exempt(callMcp, METHODS_ASK, async (req) => {
    const id = idOf(req.body);
    rememberCallId(req.raw, id ?? null);
    requireAllowedOrigin(req.raw, options.origins);
    try {
      const accepted = readAccept(req.headers);
      const frame = readFrame(req.body);
      const client = readClient(frame, req.headers, options.sessions);
      if (frame.kind === 'response') return await answerQuestion(frame, req, options);
      if (frame.kind === 'notification') return await notify(frame, client, req, options);
      const method = requireMethod(frame, client, req, options.methods);
      requirePermission(req.caller, method.permission);
      const outcome = await method.run({ id: frame.id, client, request: req }, frame.params);
      const form = formOf(frame.id, client);
      if (outcome.kind === 'value') return reply(form.result(outcome.value), outcome.headers);
      const { res, log } = req;
      await sendLater(outcome, form, accepted, { res, log, open: options.open });
      return undefined;
    } catch (error) {
      const failure = toMcpError(error);
      if (!failure) throw error;
      return { status: failure.status, body: failureOf(failure, id) };
    }
  });
}

/** @throws McpError */
function requireMethod(
  frame: RequestFrame,
  { isNew }: McpClient,
  { headers }: McpRequest,
  tables: MethodTables,
): Method {
  const table = isNew ? tables.new : tables.old;
  const method = Object.hasOwn(table, frame.method) ? table[frame.method] : undefined;
  if (!method) throw methodNotFound(frame.method, isNew ? 404 : 200);
  if (isNew) requireStandardHeaders(frame, headers);
  return method;
}

/** Notifications of other kinds ask for nothing. */
async function notify(
  { method, params }: NotificationFrame,
  client: McpClient,
  request: McpRequest,
  { tools }: McpRouteOptions,
): Promise<Reply> {
  if (method === 'notifications/cancelled' && !client.isNew) {
    requirePermission(request.caller, 'runs:update');
    await tools.cancelRequest({ client, request }, params);
  }
  return ACCEPTED;
}

async function answerQuestion(
  frame: ResponseFrame,
  request: McpRequest,
  { conversation }: McpRouteOptions,
): Promise<Reply> {
  requirePermission(request.caller, 'runs:create');
  try {
    await conversation.answer({ request }, frame);
  } catch (error) {
    const failure = toMcpError(error);
    throw failure ? invalidRequest(failure.message) : error;
  }
  return ACCEPTED;
}

/** Holds nothing else of a request: its answer may take as long as a run. */
function formOf(id: RequestId, client: McpClient): AnswerForm {
  return {
    result: (result) => ({ jsonrpc: '2.0', id, result: toResult(result, client) }),
    failure: (error) => failureOf(error, id),
  };
}

function reply(message: object, headers?: Record<string, string>): Reply {
  return ok(Buffer.concat(jsonPieces(message)), { ...headers, 'content-type': 'application/json' });
}

function failureOf(error: McpError, id: RequestId | undefined): object {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error: toRpcError(error) };
}
