import { type RefusalReason, UnavailableError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { ClientGoneError } from './body.ts';

/** What one process takes on at once. */
export interface RequestLimits {
  /** Requests being answered. */
  requestsInFlight: number;
  /** Bytes of their bodies, all together. A body that is alone is never too much. */
  bodyBytesInFlight: number;
}

export const DEFAULT_REQUEST_LIMITS: RequestLimits = {
  requestsInFlight: 500,
  bodyBytesInFlight: 512 * 1024 * 1024,
};

/** An answer, or what a websocket is served on. */
export interface Served {
  once(event: 'close', listener: () => void): unknown;
}

/** Of the bytes of bodies, the part that those nobody knows may take: the rest is for callers who have shown who they are. */
const STRANGERS_SHARE = 1 / 8;

type Reason = 'requests_in_flight' | 'body_bytes' | 'open_streams' | 'result_bytes';

const RETRY_AFTER_SECONDS = 1;

const MESSAGES: Record<Reason, string> = {
  requests_in_flight: 'Too many requests are being answered at the moment',
  body_bytes: 'Too much is being received at the moment',
  open_streams: 'Too many streams are open at the moment',
  result_bytes: 'Too many large results are being sent at the moment',
};

/** Counts what was refused for want of room, and says it to the caller. */
export class Refusals {
  readonly #refused;

  constructor(metrics: Metrics, prefix: string) {
    this.#refused = metrics.counter(
      `${prefix}http_requests_refused_total`,
      'Requests refused, by what there was no room for or what was away.',
      ['reason'],
    );
  }

  count(reason: RefusalReason): void {
    this.#refused.inc({ reason });
  }

  of(reason: Reason): UnavailableError {
    this.count(reason);
    return new UnavailableError(MESSAGES[reason], { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

/**
 * Lets requests in while there is room for them, and refuses the others at once: who waits in a queue without end is served
 * when nobody waits for the answer any more, and takes the memory of those who could be served.
 */
export class Admission {
  readonly #limits: RequestLimits;
  readonly #refusals: Refusals;
  #requests = 0;
  #bodyBytes = 0;
  #strangersBytes = 0;

  constructor(limits: RequestLimits, refusals: Refusals) {
    this.#limits = limits;
    this.#refusals = refusals;
  }

  get requestsInFlight(): number {
    return this.#requests;
  }

  get bodyBytesInFlight(): number {
    return this.#bodyBytes;
  }

  /** The request counts until its answer is closed. @throws UnavailableError */
  enter(res: Served): void {
    if (this.#requests >= this.#limits.requestsInFlight) throw this.#refusals.of('requests_in_flight');
    this.#requests += 1;
    const held: Held = { bytes: 0, ofStranger: 0, isCounted: true, isClosed: false };
    const leave = () => {
      if (held.isCounted) this.#requests -= 1;
      held.isCounted = false;
    };
    entered.set(res, {
      leave,
      hold: (bytes, isStranger) => {
        // Nobody would give it back.
        if (held.isClosed) throw new ClientGoneError();
        const { bodyBytesInFlight: limit } = this.#limits;
        const ofStranger = isStranger ? bytes : 0;
        const hasRoom =
          fits(this.#bodyBytes, held.bytes, bytes, limit) &&
          fits(this.#strangersBytes, held.ofStranger, ofStranger, limit * STRANGERS_SHARE);
        if (!hasRoom) throw this.#refusals.of('body_bytes');
        this.#bodyBytes += bytes;
        this.#strangersBytes += ofStranger;
        held.bytes += bytes;
        held.ofStranger += ofStranger;
      },
    });
    res.once('close', () => {
      held.isClosed = true;
      leave();
      this.#bodyBytes -= held.bytes;
      this.#strangersBytes -= held.ofStranger;
    });
  }
}

/** Whether there is room for more. A request that alone holds anything always has it. */
function fits(held: number, ofIts: number, more: number, limit: number): boolean {
  return more === 0 || held === ofIts || held + more <= limit;
}

interface Held {
  bytes: number;
  /** Of them, those of a body from somebody unknown. */
  ofStranger: number;
  isCounted: boolean;
  isClosed: boolean;
}

const entered = new WeakMap<Served, { leave(): void; hold(bytes: number, isStranger: boolean): void }>();

/** The request's answer takes its time from here on: it is counted elsewhere, no longer among those in flight. */
export function leaveInFlight(res: Served): void {
  entered.get(res)?.leave();
}

/**
 * So many bytes of the request's body are kept until its answer is closed.
 *
 * @param options.isStranger nobody knows who sent them: they have a share of their own, and leave the rest to others
 * @throws UnavailableError; ClientGoneError when it is closed
 */
export function holdBodyBytes(res: Served, bytes: number, { isStranger = false } = {}): void {
  entered.get(res)?.hold(bytes, isStranger);
}
