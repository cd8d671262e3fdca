import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, BadRequestError, LiveResponse, type Logger, SSE_HEADERS, SSE_HEARTBEAT } from '@runyard/service-kit';
import { createParser } from 'eventsource-parser';
import type { Platform } from '../platform/platform.ts';
import { SessionPlaces } from '../sign-in/session-places.ts';
import type { LiveRequest } from './live-operation.ts';
import { LiveOutput } from './live-output.ts';

/** A browser that reads nothing for so long is cut, and comes back. */
const STALLED_MS = 60_000;
/** Windows share one; browsers without shared workers have one for each. */
const STREAMS_OF_SESSION_MAX = 32;
/** The most characters of one event of a source, which code of a project may write. */
const EVENT_LENGTH_MAX = 1_000_000;

/** A stream of the platform that a browser follows. */
interface Source {
  /** Names its events. */
  id: string;
  method: 'GET' | 'POST';
  target: string;
  tenantId: string;
  body?: object;
}

/** Sends what a browser follows as one stream, since a browser opens six connections to a host at most, for all its windows. */
export class LiveStreams {
  readonly #platform: Platform;
  readonly #logger: Logger;
  readonly #places = new SessionPlaces(STREAMS_OF_SESSION_MAX);
  readonly #open = new Set<LiveResponse>();

  constructor(options: { platform: Platform; logger: Logger }) {
    this.#platform = options.platform;
    this.#logger = options.logger;
  }

  /** Answers until the browser leaves. Sources that end, or that the person may not see, are reported as `closed`. */
  async send(req: IncomingMessage, res: ServerResponse, asked: LiveRequest): Promise<void> {
    const session = this.#platform.requireSession(req);
    const sources = sourcesOf(asked);
    if (sources.length === 0) throw new BadRequestError('There is nothing to follow');
    this.#places.take(session, res);
    // A session that has ended is refused before anything is held open for it.
    await this.#platform.requireLiveSession(session);
    const response = new LiveResponse(res, SSE_HEADERS, { heartbeat: SSE_HEARTBEAT, stalledMs: STALLED_MS });
    this.#open.add(response);
    try {
      const output = new LiveOutput(response);
      const signal = response.closed;
      await Promise.all(sources.map((source) => this.#follow(req, { output, session, source, signal })));
    } finally {
      this.#open.delete(response);
      response.end();
    }
  }

  /** Ends all streams: browsers come back to another process. */
  close(): void {
    for (const response of this.#open) response.end();
  }

  async #follow(
    req: IncomingMessage,
    { output, session, source, signal }: { output: LiveOutput; session: string; source: Source; signal: AbortSignal },
  ): Promise<void> {
    let status = 0;
    try {
      const answer = await this.#platform.ask(req, session, {
        method: source.method,
        target: source.target,
        headers: {
          accept: 'text/event-stream',
          'x-tenant-id': source.tenantId,
          ...(source.body && { 'content-type': 'application/json' }),
        },
        body: source.body ? JSON.stringify(source.body) : null,
        signal,
      });
      status = answer.statusCode;
      if (status !== 200) {
        answer.body.destroy();
        return;
      }
      await output.send(source.id, 'open', '{}');
      const events: { event: string; data: string }[] = [];
      const parser = createParser({
        maxBufferSize: EVENT_LENGTH_MAX,
        onEvent: ({ event = 'message', data }) => events.push({ event, data }),
        onError: ({ type, message }) => {
          if (type === 'max-buffer-size-exceeded') answer.body.destroy(new Error(message));
        },
      });
      const decoder = new TextDecoder();
      for await (const bytes of answer.body) {
        parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
        for (const { event, data } of events.splice(0)) await output.send(source.id, event, data);
      }
    } catch (error) {
      if (signal.aborted) return;
      status = error instanceof AppError ? error.status : 0;
      if (status === 0) this.#logger.warn('a live source broke off', { source: source.target, error });
    } finally {
      if (!signal.aborted) await output.send(source.id, 'closed', JSON.stringify({ status })).catch(() => {});
    }
  }
}

function sourcesOf({ runs, threads }: LiveRequest): Source[] {
  return [
    ...runs.map((tenantId) => ({
      id: `runs:${tenantId}`,
      method: 'GET' as const,
      target: '/v2/runs/changes',
      tenantId,
    })),
    ...threads.map(({ id, tenant_id: tenantId, deployment_id, thread_id, channels, since }) => ({
      id,
      method: 'POST' as const,
      target: `/deployments/${deployment_id}/threads/${thread_id}/stream/events`,
      tenantId,
      body: { channels, ...(since !== undefined && { since }) },
    })),
  ];
}
