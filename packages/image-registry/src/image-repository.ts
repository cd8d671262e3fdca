import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { conforms } from '@runyard/contracts';
import Type from 'typebox';
import { type Dispatcher, request } from 'undici';
import { type Place, pathOf } from './registry-address.ts';
import { RegistryUnavailableError } from './registry-unavailable-error.ts';

const TIMEOUT_MS = 30_000;
/** Bytes of a blob that are sent in one request, and in memory meanwhile: few enough for a slow storage. */
const PIECE_BYTES = 16 * 1024 * 1024;
const Refusal = Type.Object({ errors: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })) });

/** The registry has refused a request for good. */
export class RegistryRefusedError extends Error {
  override readonly name = 'RegistryRefusedError';
  /** A code of the distribution specification, such as `DENIED`. */
  readonly code: string | undefined;

  constructor(code: string | undefined, message: string) {
    super(message);
    this.code = code;
  }
}

export interface PushedBlob {
  digest: string;
  size: number;
}

interface RequestOptions {
  headers?: Record<string, string>;
  body?: Buffer;
  /** Default: a short time. */
  signal?: AbortSignal | undefined;
  /** Milliseconds until the answer begins; 0: until the signal aborts. */
  headersTimeout?: number;
}

type Answer = Dispatcher.ResponseData;

/**
 * Pushes layers to one repository of the platform's registry by the distribution specification, as image tools do. Every
 * call may throw RegistryUnavailableError, and RegistryRefusedError for anything else that it does not expect.
 */
export class ImageRepository {
  readonly #origin: string;
  readonly #base: string;
  readonly #token: string;

  /** @param options.url the registry's base URL for other services */
  constructor({ url, place, token }: { url: string; place: Place; token: string }) {
    this.#origin = url.replace(/(?<!\/)\/+$/, '');
    this.#base = this.#origin + pathOf(place);
    this.#token = token;
  }

  /**
   * Pushes a blob whose digest is known at its end, in pieces: no request is open for longer than one of them takes.
   * After a failure the caller destroys `bytes`.
   *
   * @throws any error of `bytes`
   */
  async push(bytes: Readable, { signal }: { signal: AbortSignal }): Promise<PushedBlob> {
    let location = this.#locationOf(await this.#finish(this.#send('POST', `${this.#base}/blobs/uploads/`, {}, [202])));
    const hash = createHash('sha256');
    let size = 0;
    try {
      for await (const piece of piecesOf(bytes)) {
        hash.update(piece);
        const headers = {
          'content-type': 'application/octet-stream',
          'content-range': `${size}-${size + piece.length - 1}`,
        };
        const sent = this.#send('PATCH', location, { headers, body: piece, signal }, [202]);
        location = this.#locationOf(await this.#finish(sent));
        size += piece.length;
      }
      const digest = `sha256:${hash.digest('hex')}`;
      const end = new URL(location);
      end.searchParams.set('digest', digest);
      // The registry reads the pieces again before it answers.
      await this.#finish(this.#send('PUT', end.href, { signal, headersTimeout: 0 }, [201]));
      return { digest, size };
    } catch (error) {
      // The sent bytes are not needed. A registry that is away removes them after a day.
      await this.#finish(this.#send('DELETE', location, {}, [204, 404])).catch(() => undefined);
      signal.throwIfAborted();
      throw error;
    }
  }

  #locationOf(answer: Answer): string {
    return this.#origin + new URL(String(answer.headers.location ?? '/'), this.#origin).pathname;
  }

  async #send(method: Dispatcher.HttpMethod, url: string, options: RequestOptions, expected: number[]) {
    const { headers, signal = AbortSignal.timeout(TIMEOUT_MS), ...others } = options;
    const all = { authorization: `Bearer ${this.#token}`, ...headers };
    const answer = await this.#read(request(url, { method, headers: all, signal, ...others }), options.signal);
    const { statusCode: status, body } = answer;
    if (expected.includes(status)) return answer;
    const refusal = await body.json().catch(() => undefined);
    if (status >= 500 || status === 429) throw new RegistryUnavailableError(new Error(`it answers ${status}`));
    const [first] = conforms(Refusal, refusal) ? refusal.errors : [];
    throw new RegistryRefusedError(first?.code, first?.message ?? `The registry answers ${status}`);
  }

  async #finish(asked: Promise<Answer>): Promise<Answer> {
    const answer = await asked;
    await this.#read(answer.body.dump());
    return answer;
  }

  /** @throws RegistryUnavailableError when the connection breaks */
  async #read<Result>(reading: Promise<Result>, signal?: AbortSignal): Promise<Result> {
    try {
      return await reading;
    } catch (error) {
      signal?.throwIfAborted();
      throw new RegistryUnavailableError(error);
    }
  }
}

/** Yields the bytes in pieces that are large enough for one request each. */
async function* piecesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}
