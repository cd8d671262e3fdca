import type { A2aStreamEvent } from '@runyard/contracts';
import { type HandlerRequest, ok, type Reply } from '@runyard/service-kit';
import { LiveResponse } from '../../streams/live-response.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import type { Outcome } from '../methods/outcome.ts';
import { A2aError } from '../protocol/a2a-error.ts';
import { toA2aError } from './to-a2a-error.ts';

/** The form in which a binding sends results, events and failures. */
export interface WireForm {
  contentType: string;
  result(value: unknown): unknown;
  event(event: A2aStreamEvent): unknown;
  failure(error: A2aError): unknown;
}

/** Most runs are short: their answer goes out whole instead of headers first. */
const HEADERS_WITHIN_MS = 100;
const SSE_HEADERS = {
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'content-type': 'text/event-stream; charset=utf-8',
};
/** Lines end in LF: clients of A2A read them by it. */
const SSE_HEARTBEAT = ': heartbeat\n\n';

type Client = Pick<HandlerRequest, 'res' | 'log'>;

/** Sends the outcome of a method. Returns the reply when it can be sent at once; else it has taken over the response. */
export async function sendOutcome(
  outcome: Outcome,
  form: WireForm,
  { res, log }: Client,
  open: OpenResponses,
): Promise<Reply | undefined> {
  if (outcome.kind === 'value') return ok(form.result(outcome.value), { 'content-type': form.contentType });
  if (outcome.kind === 'later') await sendLater(outcome.value, form, { res, log }, open);
  else await sendEvents(outcome, form, { res, log }, open);
  return undefined;
}

/** Sends line feeds until the value is there, which the JSON follows. */
async function sendLater(
  later: (closed: AbortSignal) => Promise<unknown>,
  form: WireForm,
  { res, log }: Client,
  open: OpenResponses,
): Promise<void> {
  const headers = { 'content-type': form.contentType };
  const response = new LiveResponse(res, headers, { heartbeat: '\n', headersWithinMs: HEADERS_WITHIN_MS });
  open.add(response);
  try {
    const result = await later(response.closed);
    if (result !== undefined) await response.endWith([toBytes(form.result(result))]);
  } catch (error) {
    if (response.withdraw()) throw error;
    log.error('awaiting a task failed', { error });
    await response.endWith([toBytes(form.failure(failureOf(error)))]);
  }
}

async function sendEvents(
  { first, rest }: Outcome & { kind: 'events' },
  form: WireForm,
  { res, log }: Client,
  open: OpenResponses,
): Promise<void> {
  const response = new LiveResponse(res, SSE_HEADERS, { heartbeat: SSE_HEARTBEAT });
  open.add(response);
  try {
    await response.write(toEvent(form.event(first)));
    for await (const event of rest(response.closed)) {
      const caughtUp = response.write(toEvent(form.event(event)));
      if (caughtUp) await caughtUp;
    }
  } catch (error) {
    log.error('streaming a task failed', { error });
    await response.write(`event: error\n${toEvent(form.failure(failureOf(error)))}`);
  }
  response.end();
}

/** Names nothing of an unforeseen failure: it is in the log. */
function failureOf(error: unknown): A2aError {
  return toA2aError(error) ?? new A2aError('INTERNAL_ERROR', 'The task could not be read. Ask for it again.');
}

function toEvent(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function toBytes(data: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(data));
}
