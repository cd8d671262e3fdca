import type { HandlerRequest } from '@runyard/service-kit';
import { LiveResponse } from '../../streams/live-response.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import { SSE_HEADERS } from '../../streams/sse-format.ts';
import type { Outcome } from '../call.ts';
import type { Accepted } from '../protocol/accept.ts';
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

/** Sends an answer that takes as long as a run: with messages before it as events, or as JSON behind line feeds. */
export async function sendLater(
  outcome: Outcome & { kind: 'later' },
  form: AnswerForm,
  accepted: Accepted,
  { req, open }: { req: Pick<HandlerRequest, 'log' | 'res'>; open: OpenResponses },
): Promise<void> {
  const isStream = accepted.events && (outcome.wantsStream || !accepted.json);
  const response = isStream
    ? new LiveResponse(req.res, SSE_HEADERS, { heartbeat: SSE_HEARTBEAT })
    : new LiveResponse(
        req.res,
        { 'content-type': 'application/json' },
        { heartbeat: '\n', headersWithinMs: HEADERS_WITHIN_MS },
      );
  const isCut = open.add(response);
  const end = async (message: object) => {
    if (!isStream) return response.endWith([Buffer.from(JSON.stringify(message))]);
    await response.write(toEvent(message));
    response.end();
  };
  try {
    const send = async (message: object) => void (await response.write(toEvent(message)));
    const result = await outcome.value({ closed: response.closed, isStream, send });
    if (result) await end(form.result(result));
  } catch (error) {
    if (!isStream && response.withdraw()) throw error;
    const failure = toMcpError(error);
    if (!failure) req.log.error('a call of a tool failed', { error });
    // It names nothing of an unforeseen failure: that is in the log.
    await end(form.failure(failure ?? internalError('The call failed. Try again.')));
  }
  if (response.wasAbandoned && !isCut()) await outcome.onAbandoned?.();
}

function toEvent(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}
