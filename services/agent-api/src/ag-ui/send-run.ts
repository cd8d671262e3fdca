import type { ServerResponse } from 'node:http';
import type { RunEngine } from '@runyard/run-engine';
import { CONTROL_KINDS } from '@runyard/run-stream';
import { LiveResponse, type Logger, SSE_HEADERS } from '@runyard/service-kit';
import { type RunLocation, runHeaders } from '../runs/run-locations.ts';
import { awaitResult, isEnded, type RunResultSources } from '../runs/run-result.ts';
import { type FollowedEntry, followRun } from '../streams/follow-run.ts';
import type { OpenResponses } from '../streams/open-responses.ts';
import { isFailure, parseRunEnd } from '../streams/run-end.ts';
import type { AgUiOutcome } from './ag-ui-runs.ts';
import type { AgUiEvent, AgUiPeer } from './events/ag-ui-event.ts';
import { BEGINNING, type EventPlace, formatPlace, isAfter } from './events/event-ids.ts';
import { RunTranslator, type TranslatedEnd } from './events/run-translator.ts';

export interface SendRunSources extends RunResultSources {
  engine: Pick<RunEngine, 'getRun'>;
  open: OpenResponses;
}

export interface SentRun extends RunLocation {
  peer: AgUiPeer;
  /** The last event that the client has; left out for a client that wants all. */
  after?: EventPlace | undefined;
  /** True when it had ended before this request. */
  isEnded: boolean;
  /** Path and query of the continuation; undefined when nobody takes the stream over. */
  continuationPath?: string | undefined;
}

/** Lines end in LF: clients of AG-UI split events by it alone. */
const SSE_HEARTBEAT = ': heartbeat\n\n';
const ENDS: ReadonlySet<string> = new Set(['RUN_FINISHED', 'RUN_ERROR']);
const UNANSWERED = 'The thread waits for answers to its interrupts: `resume` must have all of them.';
const UNREADABLE = 'The run goes on, but its events could not be read. Ask for it again.';

/**
 * Sends a run as events of AG-UI until it has ended or the client has left; the run goes on without it. The events are
 * made from the run's beginning, and those that the client has are left out.
 */
export async function sendRun(
  sources: SendRunSources,
  run: SentRun,
  { res, log }: { res: ServerResponse; log: Logger },
): Promise<void> {
  const headers = { ...SSE_HEADERS, ...runHeaders(run) };
  const response = new LiveResponse(res, headers, { heartbeat: SSE_HEARTBEAT });
  let position = run.after;
  sources.open.add(response, {
    isResumable: true,
    continuation: () => continuationAt(run.continuationPath, position),
  });
  const translator = new RunTranslator(run.peer);
  try {
    for await (const { event, place } of eventsOf(sources, run, translator, response.closed)) {
      if (place && run.after && isKnown(event, place, run.after)) continue;
      const caughtUp = response.write(formatEvent(event, place));
      position = place ?? position;
      if (caughtUp) await caughtUp;
    }
  } catch (error) {
    log.error('streaming a run failed', { error, runId: run.runId });
    await response.write(formatEvent(translator.error(UNREADABLE, 'unreadable')));
  }
  response.end();
}

/** Answers a request that led to no run, with the state of the thread as it is. */
export function answerWithout(
  { kind, values }: Exclude<AgUiOutcome, { kind: 'run' }>,
  peer: AgUiPeer,
  res: ServerResponse,
): void {
  const translator = new RunTranslator(peer);
  const end = kind === 'nothing' ? translator.succeeded() : translator.error(UNANSWERED, 'interrupts_open');
  const events = [translator.begin(), ...translator.snapshots(values), end];
  res.writeHead(200, SSE_HEADERS).end(events.map((event) => formatEvent(event)).join(''));
}

/**
 * Returns whether a client has an event. A place beyond the last event of a run is that of no event: whoever names it
 * gets the end.
 */
function isKnown({ type }: AgUiEvent, place: EventPlace, after: EventPlace): boolean {
  if (isAfter(place, after)) return false;
  return !(ENDS.has(type) && isAfter(after, place));
}

interface PlacedEvent {
  event: AgUiEvent;
  /** Undefined for events of which the stream has no entry. */
  place: EventPlace | undefined;
}

async function* eventsOf(
  sources: SendRunSources,
  run: SentRun,
  translator: RunTranslator,
  closed: AbortSignal,
): AsyncGenerator<PlacedEvent, void, undefined> {
  yield { event: translator.begin(), place: BEGINNING };
  let error: TranslatedEnd['error'];
  for await (const entry of followRun({ ...sources, ...run, signal: closed })) {
    if (entry.kind === 'error') error = JSON.parse(entry.data) as NonNullable<TranslatedEnd['error']>;
    else if (entry.kind === CONTROL_KINDS.end) {
      const { values, ...end } = parseRunEnd(entry.data);
      const final = values === undefined ? await readValues(sources, run, end, closed) : JSON.parse(values);
      if (!closed.aborted) yield* placed(entry, translator.end({ ...end, values: final, error }));
      return;
    } else yield* placed(entry, translator.translate(entry));
  }
  if (closed.aborted) return;
  // It ended long ago: nothing of it is in the stream any more.
  const record = await sources.engine.getRun(run.threadId, run.runId);
  const status = record && isEnded(record) ? record.status : 'interrupted';
  const values = await readValues(sources, run, { status }, closed);
  if (closed.aborted) return;
  for (const event of translator.end({ status, values, error: record?.error })) yield { event, place: undefined };
}

function* placed({ id }: FollowedEntry, events: Iterable<AgUiEvent>): Generator<PlacedEvent> {
  let index = 0;
  for (const event of events) yield { event, place: id === undefined ? undefined : { entryId: id, index: index++ } };
}

/** Reads the final values of a run where the end of its stream has none: they are large, or long ago. */
async function readValues(
  sources: SendRunSources,
  { threadId, runId }: RunLocation,
  { status }: Pick<TranslatedEnd, 'status'>,
  closed: AbortSignal,
): Promise<unknown> {
  if (isFailure(status)) return undefined;
  const result = await awaitResult(sources, { threadId, runId, isKept: true }, closed);
  return result && JSON.parse(Buffer.from(result).toString('utf8'));
}

function continuationAt(path: string | undefined, position: EventPlace | undefined) {
  return path === undefined ? undefined : { path, ...(position && { afterId: formatPlace(position) }) };
}

function formatEvent(event: AgUiEvent, place?: EventPlace): string {
  return `${place ? `id: ${formatPlace(place)}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
}
