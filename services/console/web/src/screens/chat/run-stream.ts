import { createParser } from 'eventsource-parser';
import { ask, askForStream, PlatformError } from '../../platform/ask.ts';
import { at, type PlatformPath } from '../../platform/path.ts';
import type { ThreadPlace } from '../../platform/threads.ts';
import type { RunEvent } from './chat-state.ts';

/** The most characters of one event: states of threads may be large, and are never without an end. */
const EVENT_LENGTH_MAX = 64_000_000;

/** The assistant and the input that a run is started with. */
export interface RunStart {
  assistantId: string;
  input: unknown;
}

export interface RunListener {
  /** The run exists, under this id. */
  onRun(runId: string): void;
  /** Events come together as the network brought them. */
  onEvents(events: RunEvent[]): void;
  /** Called with true when the stream breaks and is being joined again, with false when it is back. */
  onBreak(isBroken: boolean): void;
}

const MODES = ['messages-tuple', 'values'];
/** Streams have a heartbeat each five seconds. */
const SILENCE_MS = 15_000;
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 5_000;

/** Starts a run on a thread, which is created where it is missing, and reads its stream to the end. @throws PlatformError */
export async function streamRun(
  place: ThreadPlace,
  start: RunStart,
  listener: RunListener,
  signal: AbortSignal,
): Promise<void> {
  const { workspaceId } = place;
  const response = await askForStream(at`${pathOf(place)}/stream`, {
    method: 'POST',
    workspaceId,
    signal,
    headers: { accept: 'text/event-stream' },
    body: {
      assistant_id: start.assistantId,
      input: start.input,
      if_not_exists: 'create',
      stream_mode: MODES,
      stream_subgraphs: true,
      stream_resumable: true,
    },
  });
  const runId = response.headers.get('content-location')?.split('/').at(-1);
  if (runId === undefined) throw new Error('The answer does not name the run');
  listener.onRun(runId);
  await follow(place, runId, '-1', listener, signal, response);
}

/** Reads the stream of a run that may be in flight, from its start to its end. @throws PlatformError */
export async function joinRun(
  place: ThreadPlace,
  runId: string,
  listener: RunListener,
  signal: AbortSignal,
): Promise<void> {
  listener.onRun(runId);
  await follow(place, runId, '-1', listener, signal);
}

/** Reads a stream, and joins it again after the last event that came for as long as the run is in flight. */
async function follow(
  place: ThreadPlace,
  runId: string,
  since: string,
  listener: RunListener,
  signal: AbortSignal,
  first?: Response,
): Promise<void> {
  let last = since;
  let failures = 0;
  let response = first;
  const onEvent = (id: string | undefined) => {
    if (id !== undefined) last = id;
    failures = 0;
  };
  for (;;) {
    try {
      response ??= await join(place, runId, last, signal);
      listener.onBreak(false);
      await read(response, listener, onEvent, signal);
      if (!(await isInFlight(place, runId, signal))) return;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof PlatformError && error.status >= 400 && error.status < 500 && error.status !== 429)
        throw error;
      listener.onBreak(true);
    }
    response = undefined;
    failures += 1;
    await pause(Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** (failures - 1)), signal);
  }
}

function join(place: ThreadPlace, runId: string, last: string, signal: AbortSignal): Promise<Response> {
  return askForStream(at`${pathOf(place)}/${runId}/stream`, {
    workspaceId: place.workspaceId,
    signal,
    headers: { accept: 'text/event-stream', 'last-event-id': last },
  });
}

async function read(
  response: Response,
  listener: RunListener,
  onEvent: (id: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const decoder = new TextDecoder();
  let events: RunEvent[] = [];
  const parser = createParser({
    maxBufferSize: EVENT_LENGTH_MAX,
    onError: ({ type, message }) => {
      if (type === 'max-buffer-size-exceeded') throw new Error(message);
    },
    onEvent: ({ event = 'message', data, id }) => {
      onEvent(id);
      events.push({ event, data: data === '' ? null : (JSON.parse(data) as unknown) });
    },
  });
  const reader = response.body!.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', cancel);
  let silence: ReturnType<typeof setTimeout> | undefined;
  let isSilent = false;
  try {
    for (;;) {
      clearTimeout(silence);
      silence = setTimeout(() => {
        isSilent = true;
        cancel();
      }, SILENCE_MS);
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (isSilent) throw new PlatformError(0, 'The stream has become silent');
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      if (events.length > 0) listener.onEvents(events);
      events = [];
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', cancel);
  }
}

/** A stream that ends may have been cut on its way: the run itself says whether it has ended. */
async function isInFlight(place: ThreadPlace, runId: string, signal: AbortSignal): Promise<boolean> {
  const { workspaceId } = place;
  const { status } = await ask<{ status: string }>(at`${pathOf(place)}/${runId}`, { workspaceId, signal });
  return status === 'pending' || status === 'running';
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

function pathOf({ deploymentId, threadId }: ThreadPlace): PlatformPath {
  return at`/deployments/${deploymentId}/threads/${threadId}/runs`;
}
