import { type HandlerRequest, LiveResponse, type Logger, SSE_HEADERS } from '@runyard/service-kit';
import { letGo } from '../../streams/let-go.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import type { Outcome, Peer } from '../call.ts';
import type { Accepted } from '../protocol/accept.ts';
import { jsonPieces } from '../protocol/json-bytes.ts';
import { internalError, type McpError } from '../protocol/mcp-error.ts';
import { toMcpError } from './to-mcp-error.ts';

/** The message of JSON-RPC that ends an answer. */
export interface AnswerForm {
  result(result: object): object;
  failure(error: McpError): object;
}

/** An error has its status as long as the headers are not out. */
const HEADERS_WITHIN_MS = 4_000;
/** Lines end in LF: clients of MCP read them by it. */
const SSE_HEARTBEAT = ': heartbeat\n\n';

/**
 * Sends an answer that takes as long as a run: with messages before it as events, or as JSON behind line feeds. Resolves
 * when the headers are out: from then on nothing holds the request any more, whose arguments may be large.
 */
export function sendLater(
  outcome: Outcome & { kind: 'later' },
  form: AnswerForm,
  accepted: Accepted,
  { res, log, open }: Pick<HandlerRequest, 'log' | 'res'> & { open: OpenResponses },
): Promise<void> {
  const isStream = accepted.events && (outcome.wantsStream || !accepted.json);
  const response = isStream
    ? new LiveResponse(res, SSE_HEADERS, { heartbeat: SSE_HEARTBEAT })
    : new LiveResponse(
        res,
        { 'content-type': 'application/json' },
        { heartbeat: '\n', headersWithinMs: HEADERS_WITHIN_MS },
      );
  const isCut = open.add(response);
  const sent = send(outcome, form, { response, isStream, log });
  const endIfAbandoned = async () => {
    if (response.wasAbandoned && !isCut()) await outcome.onAbandoned?.();
  };
  // The caller answers a failure before the headers are out.
  letGo(sent.catch(() => undefined).then(endIfAbandoned), { res, log });
  return Promise.race([response.begun, sent]);
}

/** Throws only before the headers are out. */
async function send(
  outcome: Outcome & { kind: 'later' },
  form: AnswerForm,
  { response, isStream, log }: { response: LiveResponse; isStream: boolean; log: Logger },
): Promise<void> {
  const end = (message: Uint8Array[]) => response.endWith(isStream ? toEvent(message) : message);
  try {
    const sendOne = async (message: object) => void (await response.write(Buffer.concat(toEvent(jsonPieces(message)))));
    const result = await resultOf(outcome, form, { closed: response.closed, isStream, send: sendOne });
    if (result) await end(result);
  } catch (error) {
    if (!isStream && response.withdraw()) throw error;
    const failure = toMcpError(error);
    if (!failure) log.error('a call of a tool failed', { error });
    // It names nothing of an unforeseen failure: that is in the log.
    await end(jsonPieces(form.failure(failure ?? internalError('The call failed. Try again.'))));
  }
}

/** A function of its own, so that the result is gone while a slow client reads its JSON. */
async function resultOf(
  { value }: Outcome & { kind: 'later' },
  form: AnswerForm,
  peer: Peer,
): Promise<Uint8Array[] | undefined> {
  const result = await value(peer);
  return result && jsonPieces(form.result(result));
}

function toEvent(message: Uint8Array[]): Uint8Array[] {
  return [Buffer.from('event: message\ndata: '), ...message, Buffer.from('\n\n')];
}
