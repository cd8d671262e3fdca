import { ClientDisconnectedError, UnavailableError } from './errors.ts';

/** Limits of one process. */
export interface RequestLimits {
  /** Maximum number of requests in flight. */
  requestsInFlight: number;
  /** Maximum bytes of their bodies, all together. A single body is never too much. */
  bodyBytesInFlight: number;
}

export const DEFAULT_REQUEST_LIMITS: RequestLimits = {
  requestsInFlight: 500,
  bodyBytesInFlight: 512 * 1024 * 1024,
};

/** A response, or the socket of a websocket. */
export interface ClosableResponse {
  once(event: 'close', listener: () => void): unknown;
}

/** The share of body bytes for callers who are not authenticated yet: the rest is for known callers. */
const UNAUTHENTICATED_SHARE = 1 / 8;

/**
 * Admits requests while there is room for them, and refuses the others at once. A request in an endless queue is
 * answered when its client has given up, and takes the memory of requests that could be answered.
 */
export class RequestAdmission {
  readonly #limits: RequestLimits;
  #requests = 0;
  #bodyBytes = 0;
  #unauthenticatedBytes = 0;

  constructor(limits: RequestLimits) {
    this.#limits = limits;
  }

  get requestsInFlight(): number {
    return this.#requests;
  }

  get bodyBytesInFlight(): number {
    return this.#bodyBytes;
  }

  /** Counts the request until its answer is closed. @throws UnavailableError */
  enter(res: ClosableResponse): void {
    if (this.#requests >= this.#limits.requestsInFlight) {
      throw new UnavailableError('Too many requests are being answered at the moment', {
        code: 'too_many_requests_in_flight',
      });
    }
    this.#requests += 1;
    const held: Held = { bytes: 0, ofUnauthenticated: 0, isCounted: true, isClosed: false };
    const leave = () => {
      if (held.isCounted) this.#requests -= 1;
      held.isCounted = false;
    };
    const release = (bytes = held.bytes) => {
      // Nothing is left to release after the end.
      const released = Math.min(bytes, held.bytes);
      this.#bodyBytes -= released;
      held.bytes -= released;
      if (held.bytes > 0) return;
      this.#unauthenticatedBytes -= held.ofUnauthenticated;
      held.ofUnauthenticated = 0;
    };
    entered.set(res, {
      leave,
      release,
      hold: (bytes, isUnauthenticated) => {
        // Nothing would release the bytes.
        if (held.isClosed) throw new ClientDisconnectedError();
        const { bodyBytesInFlight: limit } = this.#limits;
        const ofUnauthenticated = isUnauthenticated ? bytes : 0;
        const hasRoom =
          fits(this.#bodyBytes, held.bytes, bytes, limit) &&
          fits(this.#unauthenticatedBytes, held.ofUnauthenticated, ofUnauthenticated, limit * UNAUTHENTICATED_SHARE);
        if (!hasRoom) {
          throw new UnavailableError('Too much is being received at the moment', { code: 'too_many_body_bytes' });
        }
        this.#bodyBytes += bytes;
        this.#unauthenticatedBytes += ofUnauthenticated;
        held.bytes += bytes;
        held.ofUnauthenticated += ofUnauthenticated;
      },
    });
    res.once('close', () => {
      held.isClosed = true;
      leave();
      release();
    });
  }
}

/** Returns whether there is room for more. A request that is the only one with bytes always has it. */
function fits(held: number, ownBytes: number, more: number, limit: number): boolean {
  return more === 0 || held === ownBytes || held + more <= limit;
}

interface Held {
  bytes: number;
  /** The bytes of a body from an unknown caller. */
  ofUnauthenticated: number;
  isCounted: boolean;
  isClosed: boolean;
}

const entered = new WeakMap<
  ClosableResponse,
  { leave(): void; release(bytes?: number): void; hold(bytes: number, isUnauthenticated: boolean): void }
>();

/** Stops counting the request among those in flight: its answer takes long, and is counted elsewhere. */
export function excludeFromInFlight(res: ClosableResponse): void {
  entered.get(res)?.leave();
}

/**
 * Stops counting bytes of the request's body, by default all: nothing holds them any more, though its answer takes
 * long.
 */
export function releaseBodyBytes(res: ClosableResponse, bytes?: number): void {
  entered.get(res)?.release(bytes);
}

/**
 * Counts bytes of the request's body until its answer is closed, or they are released.
 *
 * @param options.isUnauthenticated whether the sender is not authenticated: such bytes have their own share
 * @throws UnavailableError; ClientDisconnectedError when it is closed
 */
export function reserveBodyBytes(res: ClosableResponse, bytes: number, { isUnauthenticated = false } = {}): void {
  entered.get(res)?.hold(bytes, isUnauthenticated);
}
