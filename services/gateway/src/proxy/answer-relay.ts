import type { ServerResponse } from 'node:http';
import { HANDOFF_HEADER } from '@runyard/contracts';
import { abortResponse, ClientDisconnectedError } from '@runyard/service-kit';
import type { Dispatcher } from 'undici';
import { responseHeaders } from './headers.ts';
import type { AnswerSource } from './origin-rules.ts';
import { ContinuationRefusedError, UntouchedError } from './upstream-error.ts';

const CHALLENGE = 'www-authenticate';

/** The continuation of an answer whose upstream had to stop. */
export interface Continuation {
  /** Path and query, at any upstream of the deployment. */
  path: string;
  afterId: string | undefined;
}

export interface RelayOptions {
  /** Names and values of headers that the answer gets besides the upstream's. */
  ownHeaders: readonly string[];
  /** Returns `WWW-Authenticate` for an answer of this status that has none; undefined for no such header. */
  challengeFor(status: number): string | undefined;
  /** The sender of the answer, which decides which headers it may have. */
  source: AnswerSource;
  /** Called when the answer begins: whether it is the last one on its connection. */
  isLast(): boolean;
  /** Called when the upstream has begun to answer. */
  onBegun(): void;
  /** Called when the upstream takes no further request on this connection: it is probably about to stop. */
  onClosing(): void;
  /** True when an answer that says "untouched" has to be refused, because another upstream can be tried. */
  hasAlternative: boolean;
  /** True when it continues an answer whose beginning the client has. */
  isContinuing: boolean;
}

/**
 * Receives an upstream's answer and sends it to the client at the client's pace. Resolves when the answer is out or has
 * broken off, with a handoff when the rest is elsewhere; rejects when nothing of it went out.
 */
export class AnswerRelay implements Dispatcher.DispatchHandler {
  readonly done: Promise<Continuation | undefined>;
  readonly #res: ServerResponse;
  readonly #options: RelayOptions;
  readonly #onClientClosed: () => void;
  #resolve!: (continuation: Continuation | undefined) => void;
  #reject!: (error: Error) => void;
  #abort: (error?: Error) => void = () => {};
  #resume: () => void = () => {};
  #hasBegun = false;
  #settled = false;

  constructor(res: ServerResponse, options: RelayOptions) {
    this.#res = res;
    this.#options = options;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#onClientClosed = () => {
      if (!this.#settled) this.#abort(new ClientDisconnectedError());
    };
    res.on('close', this.#onClientClosed);
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#res.destroyed || this.#res.closed) abort(new ClientDisconnectedError());
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void, statusText: string): boolean {
    if (status < 200) return true;
    const { ownHeaders, challengeFor, source, isLast, onBegun, onClosing, hasAlternative, isContinuing } =
      this.#options;
    onBegun();
    const { list, announcesLength, isClosing, isUntouched } = responseHeaders(raw, {
      ownHeaders,
      source,
      closes: isLast(),
    });
    const challenge = challengeFor(status);
    if (challenge !== undefined && !hasHeader(list, CHALLENGE)) list.push(CHALLENGE, challenge);
    if (isClosing) onClosing();
    if (isUntouched && hasAlternative) {
      this.#abort(new UntouchedError());
      return true;
    }
    this.#resume = resume;
    if (isContinuing) {
      if (status !== 200) this.#abort(new ContinuationRefusedError(status));
      return true;
    }
    this.#hasBegun = true;
    this.#res.writeHead(status, statusText, list as unknown as Record<string, string>);
    // A stream's headers must not wait for its first event; with a known length the body follows at once.
    if (!announcesLength) this.#res.flushHeaders();
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#hasBegun = true;
    if (this.#res.write(chunk)) return true;
    this.#res.once('drain', this.#resume);
    return false;
  }

  onComplete(trailers: readonly (Buffer | string)[] | null): void {
    this.#settle();
    const continuation = trailers && continuationIn(trailers);
    if (!continuation) this.#res.end();
    this.#resolve(continuation ?? undefined);
  }

  onError(error: Error): void {
    if (this.#settled) return;
    this.#settle();
    if (this.#hasBegun) {
      abortResponse(this.#res);
      this.#resolve(undefined);
    } else this.#reject(error);
  }

  #settle(): void {
    this.#settled = true;
    this.#res.off('close', this.#onClientClosed);
  }
}

/** @param list names, in lower case, and values */
function hasHeader(list: readonly string[], name: string): boolean {
  return list.some((text, index) => index % 2 === 0 && text === name);
}

function continuationIn(trailers: readonly (Buffer | string)[]): Continuation | undefined {
  let path: string | undefined;
  let afterId: string | undefined;
  for (let index = 0; index < trailers.length; index += 2) {
    const name = String(trailers[index]).toLowerCase();
    if (name === HANDOFF_HEADER) path = String(trailers[index + 1]);
    else if (name === 'last-event-id') afterId = String(trailers[index + 1]);
  }
  return path?.startsWith('/') ? { path, afterId } : undefined;
}
