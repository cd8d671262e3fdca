import { ask, askJson } from '../ask.ts';

/** An object of JSON, as the protocol has it. */
export type Fields = Record<string, unknown>;

export interface McpTarget {
  /** The deployment's URL for clients. */
  url: string;
  headers: Record<string, string>;
}

/** A message of JSON-RPC, as one POST sends it. */
export interface McpRequest {
  body: Fields;
  headers: Record<string, string>;
}

export const NEW_REVISION = '2026-07-28';
export const OLD_REVISION = '2025-11-25';
const PREFIX = 'io.modelcontextprotocol';
const ACCEPT = { accept: 'application/json, text/event-stream' };
const CLIENT_INFO = { name: 'fault-bench', version: '1.0.0' };
const ELICITATION = { elicitation: { form: {} } };

let lastId = 0;

/** Returns a request of the stateless revision, from a client that takes tasks and asks its user. */
export function newRequest(method: string, params: Fields): McpRequest {
  const _meta = {
    [`${PREFIX}/protocolVersion`]: NEW_REVISION,
    [`${PREFIX}/clientInfo`]: CLIENT_INFO,
    [`${PREFIX}/clientCapabilities`]: { ...ELICITATION, extensions: { [`${PREFIX}/tasks`]: {} } },
  };
  const name = params.name ?? params.taskId;
  return {
    body: requestBody(method, { ...params, _meta }),
    headers: {
      ...ACCEPT,
      'mcp-protocol-version': NEW_REVISION,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': String(name) }),
    },
  };
}

/** Returns a request of 2025-11-25; `session` is what `openSession` returned. */
export function oldRequest(method: string, params: Fields, session: string | undefined): McpRequest {
  return { body: requestBody(method, params), headers: oldHeaders(session) };
}

/** Returns the answer to a question of the server, as a message of its own. */
export function oldAnswer(questionId: unknown, result: object, session: string): McpRequest {
  return { body: { jsonrpc: '2.0', id: questionId, result }, headers: oldHeaders(session) };
}

/** Returns the session of a client of 2025-11-25 that asks its user; undefined without an answer. */
export async function openSession(target: McpTarget): Promise<string | undefined> {
  const params = { protocolVersion: OLD_REVISION, capabilities: ELICITATION, clientInfo: CLIENT_INFO };
  const response = await send(target, oldRequest('initialize', params, undefined));
  return response?.headers.get('mcp-session-id') ?? undefined;
}

/** Returns the response to a message; undefined when there is none. Never rejects. */
export function send(target: McpTarget, { body, headers }: McpRequest): Promise<Response | undefined> {
  return ask(`${target.url}/mcp`, { headers: { ...target.headers, ...headers }, body });
}

/** Returns the result of a request; undefined for an error, and without an answer. Never rejects. */
export async function resultOf(target: McpTarget, { body, headers }: McpRequest): Promise<Fields | undefined> {
  const answer = await askJson(`${target.url}/mcp`, { headers: { ...target.headers, ...headers }, body });
  return (answer as { result?: Fields } | undefined)?.result;
}

function requestBody(method: string, params: Fields): Fields {
  lastId += 1;
  return { jsonrpc: '2.0', id: lastId, method, params };
}

function oldHeaders(session: string | undefined): Record<string, string> {
  return {
    ...ACCEPT,
    'mcp-protocol-version': OLD_REVISION,
    ...(session !== undefined && { 'mcp-session-id': session }),
  };
}
