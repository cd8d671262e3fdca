import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { conforms } from '@runyard/contracts';
import Type from 'typebox';
import { type Dispatcher, request } from 'undici';
import { type Place, pathOf } from './registry-address.ts';
import type { RegistryTokens } from './registry-tokens.ts';
import { RegistryUnavailableError } from './registry-unavailable-error.ts';

/** Longer than any single request of an image that is made. */
const TOKEN_LIFETIME_MS = 24 * 3_600_000;
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

/** Returns whether a manifest was refused because a blob that was there is gone: other images had it, and went. */
export function isBlobGone(error: unknown): boolean {
  return error instanceof RegistryRefusedError && error.code === 'MANIFEST_BLOB_UNKNOWN';
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

/** Opens repositories of the platform's registry, with tokens for one repository each. */
export class ImageRepositories {
  readonly #url: string;
  readonly #tokens: RegistryTokens;

  /** @param options.url the registry's base URL for other services */
  constructor({ url, tokens }: { url: string; tokens: RegistryTokens }) {
    this.#url = url;
    this.#tokens = tokens;
  }

  open(place: Place, { mayPush }: { mayPush: boolean }): ImageRepository {
    return new ImageRepository({ url: this.#url, place, token: this.issueToken(place, { mayPush }) });
  }

  /** Returns the token that {@link ImageRepository} needs for one repository. */
  issueToken(place: Place, { mayPush }: { mayPush: boolean }): string {
    return this.#tokens.issue({ ...place, mayPush }, TOKEN_LIFETIME_MS);
  }

  /** @throws RegistryUnavailableError while the registry cannot store anything */
  async checkAvailable(signal: AbortSignal): Promise<void> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const ready = await request(new URL('/ok?check_db=1', this.#url), { signal: limited }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new RegistryUnavailableError(error);
    });
    await ready.body.dump();
    if (ready.statusCode !== 200) throw new RegistryUnavailableError(new Error(`it answers ${ready.statusCode}`));
  }
}

/**
 * Pushes to and pulls from one repository by the distribution specification, as image tools do. Every call may throw
 * RegistryUnavailableError, and RegistryRefusedError for anything else that it does not expect.
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

  /** Returns null for a manifest that does not exist. */
  async manifest(reference: string): Promise<{ digest: string; content: Buffer } | null> {
    const answer = await this.#send('GET', `${this.#base}/manifests/${reference}`, {}, [200, 404]);
    const content = Buffer.from(await this.#read(answer.body.arrayBuffer()));
    if (answer.statusCode === 404) return null;
    return { digest: String(answer.headers['docker-content-digest']), content };
  }

  async putManifest(reference: string, content: Buffer, mediaType: string): Promise<void> {
    const headers = { 'content-type': mediaType };
    await this.#finish(this.#send('PUT', `${this.#base}/manifests/${reference}`, { headers, body: content }, [201]));
  }

  /**
   * Deletes a manifest by a tag or its digest, with the blobs that no other one needs, unless a revision needs it. A
   * missing one is no error.
   */
  async deleteManifest(reference: string): Promise<void> {
    await this.#finish(this.#send('DELETE', `${this.#base}/manifests/${reference}`, {}, [202, 403, 404]));
  }

  /** Deletes a blob, unless a manifest needs it. */
  async deleteBlob(digest: string): Promise<void> {
    await this.#finish(this.#send('DELETE', `${this.#base}/blobs/${digest}`, {}, [202, 403, 404]));
  }

  async tags(): Promise<string[]> {
    const found: string[] = [];
    let next: string | undefined = `${this.#base}/tags/list`;
    while (next !== undefined) {
      const answer: Answer = await this.#send('GET', next, {}, [200, 404]);
      const body = (await this.#read(answer.body.json())) as { tags?: string[] };
      found.push(...(body.tags ?? []));
      const link: string | undefined = /^<([^>]+)>/.exec(String(answer.headers.link ?? ''))?.[1];
      next = link === undefined ? undefined : this.#origin + link;
    }
    return found;
  }

  /** Returns null for a blob that does not exist. */
  async blob(digest: string, signal: AbortSignal): Promise<Readable | null> {
    const answer = await this.#send('GET', `${this.#base}/blobs/${digest}`, { signal }, [200, 404]);
    if (answer.statusCode === 200) return answer.body;
    await this.#read(answer.body.dump());
    return null;
  }

  /** Takes a blob over from another repository. @returns whether the blob is here now */
  async mount(digest: string, from: Place): Promise<boolean> {
    const name = pathOf(from).slice('/v2/'.length);
    const path = `${this.#base}/blobs/uploads/?mount=${digest}&from=${encodeURIComponent(name)}`;
    const answer = await this.#finish(this.#send('POST', path, {}, [201, 202]));
    if (answer.statusCode === 201) return true;
    await this.#finish(this.#send('DELETE', this.#locationOf(answer), {}, [204, 404]));
    return false;
  }

  /**
   * Pushes a blob whose digest is known at its end, in pieces: no request is open for longer than one of them takes.
   * After a failure the caller destroys `bytes`.
   *
   * @param expected the digest that it must have; default: the one that it has
   * @throws any error of `bytes`
   */
  async push(bytes: Readable, { signal, expected }: { signal: AbortSignal; expected?: string }): Promise<PushedBlob> {
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
      end.searchParams.set('digest', expected ?? digest);
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
