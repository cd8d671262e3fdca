import type { IncomingHttpHeaders } from 'node:http';
import { type HandlerRequest, LiveResponse, type Logger, ok, type Reply, SSE_HEADERS } from '@runyard/service-kit';
import { acceptsHandoff } from '../../streams/continuation.ts';
import type { OpenResponses, StopBehavior } from '../../streams/open-responses.ts';
import type { Outcome } from '../methods/outcome.ts';
import { A2aError } from '../protocol/a2a-error.ts';
import { remainderAt } from './remainder-path.ts';
import { toA2aError } from './to-a2a-error.ts';
import type { WireForm } from './wire-form.ts';

/** Most runs are short: their answer goes out whole instead of headers first. */
const HEADERS_WITHIN_MS = 100;
/** Lines end in LF: clients of A2A read them by it. */
const SSE_HEARTBEAT = ': heartbeat\n\n';

type Client = Pick<HandlerRequest, 'res' | 'log'>;
/** The answers in flight, and what a stop does with one more. */
interface Stops {
  open: OpenResponses;
  stop: StopBehavior;
}
type Long<Kind extends Outcome['kind']> = Extract<Outcome, { kind: Kind }>;

/**
 * Sends the outcome of a method. Returns the reply when it can be sent at once; else it has taken over the response, and
 * resolves when the headers are out: from then on nothing holds the request any more, whose message may be large.
 */
export async function sendOutcome(
  outcome: Outcome,
  form: WireForm,
  { res, log, headers }: Client & Pick<HandlerRequest, 'headers'>,
  open: OpenResponses,
): Promise<Reply | undefined> {
  if (outcome.kind === 'value') return ok(form.result(outcome.value), { 'content-type': form.contentType });
  const stop = stopBehavior(outcome, form, headers);
  await (outcome.kind === 'later'
    ? beginLater(outcome, form, { res, log }, { open, stop })
    : beginEvents(outcome, form, { res, log }, { open, stop }));
  return undefined;
}

/** Sends line feeds until the value is there, which the JSON follows. Resolves when the headers are out. */
function beginLater(outcome: Long<'later'>, form: WireForm, { res, log }: Client, stops: Stops): Promise<void> {
  const headers = { 'content-type': form.contentType };
  const response = new LiveResponse(res, headers, { heartbeat: '\n', headersWithinMs: HEADERS_WITHIN_MS });
  stops.open.add(response, stops.stop);
  return Promise.race([response.begun, sendLater(outcome, form, response, log)]);
}

/** Throws only before the headers are out. */
async function sendLater(outcome: Long<'later'>, form: WireForm, response: LiveResponse, log: Logger): Promise<void> {
  try {
    const bytes = await bytesOf(outcome, form, response.closed);
    if (bytes !== undefined) await response.endWith([bytes]);
  } catch (error) {
    if (response.withdraw()) throw error;
    log.error('awaiting a task failed', { error });
    await response.endWith([toBytes(form.failure(failureOf(error)))]);
  }
}

/** A function of its own, so that the value is gone while a slow client reads its JSON. */
async function bytesOf({ value }: Long<'later'>, form: WireForm, closed: AbortSignal): Promise<Uint8Array | undefined> {
  const result = await value(closed);
  return result === undefined ? undefined : toBytes(form.result(result));
}

/** Sends the first event, and goes on with the others. */
async function beginEvents(
  { first, rest }: Long<'events'>,
  form: WireForm,
  { res, log }: Client,
  { open, stop }: Stops,
): Promise<void> {
  const response = new LiveResponse(res, SSE_HEADERS, { heartbeat: SSE_HEARTBEAT });
  const begun = first && response.write(toEvent(form.event(first)));
  // Nobody else could say the beginning: a stop hands off what comes after it.
  open.add(response, stop);
  await begun;
  void sendEvents(rest, form, response, log);
}

async function sendEvents(
  rest: Long<'events'>['rest'],
  form: WireForm,
  response: LiveResponse,
  log: Logger,
): Promise<void> {
  try {
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

/**
 * A stop of this process hands the answer off to whoever fetches the rest elsewhere. Other clients get it whole, if it
 * is complete in time; else their connection breaks off, which no client takes for the end of the task.
 */
function stopBehavior(
  { remainder }: Long<'later' | 'events'>,
  form: WireForm,
  headers: IncomingHttpHeaders,
): StopBehavior {
  return acceptsHandoff(headers) ? { continuation: () => remainderAt(remainder(), form.name) } : {};
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
