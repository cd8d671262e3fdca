import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { conforms } from '@runyard/contracts';
import { type Place, pathOf, type RegistryTokens } from '@runyard/image-registry';
import Type from 'typebox';
import { RegistryUnavailableError } from './registry-unavailable-error.ts';

/** Longer than any single request of an image that is made. */
const TOKEN_LIFETIME_MS = 24 * 3_600_000;
const TIMEOUT_MS = 30_000;
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
  body?: Uint8Array<ArrayBuffer> | ReadableStream;
  /** Default: a short time. */
  signal?: AbortSignal | undefined;
}

/** Opens repositories of the platform's registry, with tokens for one repository each. */
export class ImageRepositories {
  readonly #url: string;
  readonly #tokens: RegistryTokens;

  /** @param options.url the registry's base URL for other services */
  constructor({ url, tokens }: { url: string; tokens: RegistryTokens }) {
    this.#url = url.replace(/(?<!\/)\/+$/, '');
    this.#tokens = tokens;
  }

  open(place: Place, { mayPush }: { mayPush: boolean }): ImageRepository {
    const token = this.#tokens.issue({ ...place, mayPush }, TOKEN_LIFETIME_MS);
    return new ImageRepository({ url: this.#url, place, token });
  }

  /** @throws RegistryUnavailableError while the registry cannot store anything */
  async checkAvailable(signal: AbortSignal): Promise<void> {
    const ready = await fetch(`${this.#url}/ok?check_db=1`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new RegistryUnavailableError(error);
    });
    await ready.body?.cancel();
    if (!ready.ok) throw new RegistryUnavailableError(new Error(`it answers ${ready.status}`));
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

  constructor({ url, place, token }: { url: string; place: Place; token: string }) {
    this.#origin = url;
    this.#base = url + pathOf(place);
    this.#token = token;
  }

  /** Returns null for a manifest that does not exist. */
  async manifest(reference: string): Promise<{ digest: string; content: Buffer } | null> {
    const answer = await this.#send('GET', `${this.#base}/manifests/${reference}`, {}, [200, 404]);
    const content = Buffer.from(await this.#read(answer.arrayBuffer()));
    if (answer.status === 404) return null;
    return { digest: answer.headers.get('docker-content-digest')!, content };
  }

  async putManifest(reference: string, content: Buffer, mediaType: string): Promise<void> {
    const headers = { 'content-type': mediaType };
    const body = Uint8Array.from(content);
    await this.#finish(this.#send('PUT', `${this.#base}/manifests/${reference}`, { headers, body }, [201]));
  }

  /** Deletes a manifest by a tag or its digest, with the blobs that no other one needs. A missing one is no error. */
  async deleteManifest(reference: string): Promise<void> {
    await this.#finish(this.#send('DELETE', `${this.#base}/manifests/${reference}`, {}, [202, 404]));
  }

  /** Deletes a blob, unless a manifest needs it. */
  async deleteBlob(digest: string): Promise<void> {
    await this.#finish(this.#send('DELETE', `${this.#base}/blobs/${digest}`, {}, [202, 403, 404]));
  }

  async tags(): Promise<string[]> {
    const found: string[] = [];
    let next: string | undefined = `${this.#base}/tags/list`;
    while (next !== undefined) {
      const answer: Response = await this.#send('GET', next, {}, [200, 404]);
      const body = (await this.#read(answer.json())) as { tags?: string[] };
      found.push(...(body.tags ?? []));
      const link = /^<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1];
      next = link === undefined ? undefined : this.#origin + link;
    }
    return found;
  }

  /** Returns null for a blob that does not exist. */
  async blob(digest: string, signal: AbortSignal): Promise<Readable | null> {
    const answer = await this.#send('GET', `${this.#base}/blobs/${digest}`, { signal }, [200, 404]);
    if (answer.status === 200) return Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
    await answer.body?.cancel();
    return null;
  }

  /** Takes a blob over from another repository. @returns whether the blob is here now */
  async mount(digest: string, from: Place): Promise<boolean> {
    const name = pathOf(from).slice('/v2/'.length);
    const path = `${this.#base}/blobs/uploads/?mount=${digest}&from=${encodeURIComponent(name)}`;
    const answer = await this.#finish(this.#send('POST', path, {}, [201, 202]));
    if (answer.status === 201) return true;
    await this.#finish(this.#send('DELETE', this.#locationOf(answer), {}, [204, 404]));
    return false;
  }

  /**
   * Pushes a blob whose digest is known at its end. After a failure the caller destroys `bytes`.
   *
   * @param expected the digest that it must have; default: the one that it has
   * @throws any error of `bytes`
   */
  async push(bytes: Readable, { signal, expected }: { signal: AbortSignal; expected?: string }): Promise<PushedBlob> {
    const begun = await this.#finish(this.#send('POST', `${this.#base}/blobs/uploads/`, {}, [202]));
    const hash = createHash('sha256');
    let size = 0;
    let failure: { error: unknown } | undefined;
    async function* read(): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of bytes as AsyncIterable<Buffer>) {
          hash.update(chunk);
          size += chunk.length;
          yield chunk;
        }
      } catch (error) {
        failure = { error };
        throw error;
      }
    }
    const body = Readable.toWeb(Readable.from(read(), { objectMode: false })) as ReadableStream;
    const location = this.#locationOf(begun);
    try {
      const sent = await this.#finish(this.#send('PATCH', location, { body, signal }, [202]));
      const digest = `sha256:${hash.digest('hex')}`;
      const end = new URL(this.#locationOf(sent));
      end.searchParams.set('digest', expected ?? digest);
      await this.#finish(this.#send('PUT', end.href, { signal }, [201]));
      return { digest, size };
    } catch (error) {
      // The sent bytes are not needed. A registry that is away removes them after a day.
      await this.#finish(this.#send('DELETE', location, {}, [204, 404])).catch(() => undefined);
      signal.throwIfAborted();
      throw failure ? failure.error : error;
    }
  }

  #locationOf(answer: Response): string {
    return this.#origin + new URL(answer.headers.get('location') ?? '/', this.#origin).pathname;
  }

  async #send(method: string, url: string, options: RequestOptions, expected: number[]): Promise<Response> {
    const { headers, body, signal = AbortSignal.timeout(TIMEOUT_MS) } = options;
    const init = {
      method,
      headers: { authorization: `Bearer ${this.#token}`, ...headers },
      signal,
      ...(body !== undefined && { body, duplex: 'half' }),
    };
    const answer = await this.#read(fetch(url, init as RequestInit), options.signal);
    if (expected.includes(answer.status)) return answer;
    const refusal = await answer.json().catch(() => undefined);
    if (answer.status >= 500 || answer.status === 429)
      throw new RegistryUnavailableError(new Error(`it answers ${answer.status}`));
    const [first] = conforms(Refusal, refusal) ? refusal.errors : [];
    throw new RegistryRefusedError(first?.code, first?.message ?? `The registry answers ${answer.status}`);
  }

  async #finish(asked: Promise<Response>): Promise<Response> {
    const answer = await asked;
    await this.#read(answer.arrayBuffer());
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
