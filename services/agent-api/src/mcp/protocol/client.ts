import type { IncomingHttpHeaders } from 'node:http';
import { type Fields, isFields } from '../../http/fields.ts';
import type { Frame } from './frame.ts';
import { headerMismatch, invalidParams, invalidRequest, McpError, unsupportedVersion } from './mcp-error.ts';
import type { Sessions } from './sessions.ts';
import { isOldRevision, NEW_REVISION, type Revision, UNNAMED_REVISION } from './versions.ts';

/** The client of a request, as far as the request says. */
export interface McpClient {
  revision: Revision;
  /** True in the stateless revision. */
  isNew: boolean;
  /** True when the client can ask its user with a form. */
  asksUser: boolean;
  /** True when the client takes a task for an answer, by the extension of the new revision. */
  takesTasks: boolean;
  /** Tells old clients apart; undefined for one that sends no session id. */
  session: string | undefined;
}

const PREFIX = 'io.modelcontextprotocol';
const VERSION = `${PREFIX}/protocolVersion`;
const CAPABILITIES = `${PREFIX}/clientCapabilities`;
const CLIENT_INFO = `${PREFIX}/clientInfo`;
export const TASKS_EXTENSION = `${PREFIX}/tasks`;
export const SERVER_INFO_KEY = `${PREFIX}/serverInfo`;
export const RELATED_TASK_KEY = `${PREFIX}/related-task`;

const UNKNOWN_SESSION_STATUS = 404;

/**
 * Reads who asks: `_meta` of the message says so in the new revision, the session id in old ones. The body decides
 * which of them a request is of. @throws McpError
 */
export function readClient(frame: Frame, headers: IncomingHttpHeaders, sessions: Pick<Sessions, 'read'>): McpClient {
  const version = headerOf(headers, 'mcp-protocol-version');
  const meta = frame.kind === 'response' ? undefined : frame.params._meta;
  const claimed = isFields(meta) ? meta[VERSION] : undefined;
  const isOld = claimed === undefined ? version !== NEW_REVISION : isOldRevision(claimed);
  if (isOld) return oldClient(version ?? (claimed as string | undefined), headers, sessions);
  if (frame.kind === 'response') throw invalidRequest('Answers to questions are part of the next request');
  const { capabilities } = frame.kind === 'request' ? readEnvelope(meta, version) : { capabilities: {} };
  const { elicitation, extensions } = capabilities;
  return {
    revision: NEW_REVISION,
    isNew: true,
    asksUser: hasForms(elicitation),
    takesTasks: isFields(extensions) && isFields(extensions[TASKS_EXTENSION]),
    session: undefined,
  };
}

/** Returns whether a client can ask its user with a form: by the revisions before 2025-11-25 that is what there is. */
export function hasForms(elicitation: unknown): boolean {
  return isFields(elicitation) && (isFields(elicitation.form) || elicitation.url === undefined);
}

export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value)?.trim();
}

/** @throws McpError */
function readEnvelope(meta: unknown, version: string | undefined): { capabilities: Fields } {
  if (!isFields(meta)) throw invalidParams('params._meta is missing', 400);
  const { [VERSION]: claimed, [CAPABILITIES]: capabilities, [CLIENT_INFO]: info = {} } = meta;
  if (typeof claimed !== 'string') throw invalidParams(`params._meta["${VERSION}"] must be a text`, 400);
  if (!isFields(capabilities)) throw invalidParams(`params._meta["${CAPABILITIES}"] must be an object`, 400);
  if (!isFields(info)) throw invalidParams(`params._meta["${CLIENT_INFO}"] must be an object`, 400);
  if (version !== claimed) throw headerMismatch(`MCP-Protocol-Version is not ${claimed}, as the body has it`);
  if (claimed !== NEW_REVISION) throw unsupportedVersion(claimed);
  return { capabilities };
}

/** @throws McpError */
function oldClient(
  version: string | undefined,
  headers: IncomingHttpHeaders,
  sessions: Pick<Sessions, 'read'>,
): McpClient {
  if (version !== undefined && !isOldRevision(version)) throw unsupportedVersion(version);
  const id = headerOf(headers, 'mcp-session-id');
  const session = id === undefined ? undefined : sessions.read(id);
  if (id !== undefined && !session) {
    throw new McpError(-32600, 'There is no such session: initialize another one', { status: UNKNOWN_SESSION_STATUS });
  }
  return {
    revision: version ?? session?.revision ?? UNNAMED_REVISION,
    isNew: false,
    asksUser: session?.asksUser ?? false,
    takesTasks: false,
    session: session?.nonce,
  };
}
