import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { BuildError } from '@runyard/deployments';
import { type ImageReference, MANIFEST_LIMIT_BYTES, originOf } from '@runyard/image-registry';
import { type OutboundClient, OutboundRefusedError, type OutboundStreamResponse } from '@runyard/outbound';
import pRetry from 'p-retry';
import { MANIFEST_TYPES } from './image-content.ts';
import type { ImageSource } from './image-source.ts';
import { requestToken } from './registry-token.ts';

export interface RegistryClientOptions {
  reference: ImageReference;
  /** Reaches the registry that the operator has named, in any network. */
  registry: OutboundClient;
  /** Reaches the addresses that the registry names for tokens and blobs. */
  others: OutboundClient;
  login: { username: string; password: string } | undefined;
}

const IDLE_MS = 30_000;
const REDIRECTS_MAX = 5;
const RETRIES = 4;
const FIRST_RETRY_MS = 500;

/** A failure after which a retry may succeed. */
class TransientRegistryError extends Error {
  override readonly name = 'TransientRegistryError';
}

/** Reads one repository of a registry by the distribution specification, as container engines do. */
export class RegistryClient implements ImageSource {
  readonly #options: RegistryClientOptions;
  readonly #origin: string;
  #authorization: string | undefined;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
    this.#origin = originOf(options.reference);
  }

  async manifest(version: string, signal: AbortSignal): Promise<Buffer> {
    return this.#withRetries(signal, async () => {
      const { body } = await this.#get(`manifests/${version}`, { accept: MANIFEST_TYPES.join(', ') }, signal);
      return buffer(limitBytes(body, MANIFEST_LIMIT_BYTES));
    });
  }

  blob(digest: string, signal: AbortSignal): Promise<Readable> {
    return this.#withRetries(signal, async () => (await this.#get(`blobs/${digest}`, {}, signal)).body);
  }

  /** Retries for a while after failures that may pass. */
  async #withRetries<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await pRetry(ask, {
        retries: RETRIES,
        minTimeout: FIRST_RETRY_MS,
        signal,
        shouldRetry: ({ error }) => !(error instanceof BuildError || error instanceof OutboundRefusedError),
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BuildError) throw error;
      const { host } = this.#options.reference;
      throw new BuildError(`The registry ${host} could not be asked: ${(error as Error).message}`, { cause: error });
    }
  }

  async #get(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<OutboundStreamResponse> {
    const { repository } = this.#options.reference;
    const url = `${this.#origin}/v2/${repository}/${path}`;
    const known = this.#authorization;
    let answer = await this.#follow(url, headers, signal);
    // Tokens may expire while large layers are read.
    if (answer.status === 401) {
      answer.discard();
      // Another build may have fetched a new token meanwhile.
      if (this.#authorization === known) {
        this.#authorization = await requestToken(
          String(answer.headers['www-authenticate'] ?? ''),
          this.#options,
          signal,
        );
      }
      answer = await this.#follow(url, headers, signal);
    }
    if (answer.status === 200) return answer;
    answer.discard();
    if (answer.status === 429 || answer.status >= 500) throw new TransientRegistryError(`it answers ${answer.status}`);
    const { host } = this.#options.reference;
    if (answer.status === 404) throw new BuildError(`The registry ${host} has no ${path} of ${repository}`);
    const hint = answer.status === 401 || answer.status === 403 ? ' (PROJECT_BASE_IMAGE_USERNAME, …_PASSWORD)' : '';
    throw new BuildError(`The registry ${host} answers ${answer.status} for ${repository}${hint}`);
  }

  /** Follows redirects. Only the registry itself gets the credential. */
  async #follow(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<OutboundStreamResponse> {
    let target = url;
    for (let turns = 0; turns <= REDIRECTS_MAX; turns += 1) {
      const isOwn = new URL(target).origin === this.#origin;
      const credential = isOwn && this.#authorization ? { authorization: this.#authorization } : undefined;
      const client = isOwn ? this.#options.registry : this.#options.others;
      const answer = await client.download(target, { headers: { ...headers, ...credential }, idleMs: IDLE_MS, signal });
      const { location } = answer.headers;
      if (answer.status < 300 || answer.status >= 400 || typeof location !== 'string') return answer;
      answer.discard();
      target = new URL(location, target).href;
    }
    throw new BuildError(`The registry ${this.#options.reference.host} leads from one place to the next`);
  }
}

/** @throws BuildError when the content is longer than the limit */
async function* limitBytes(chunks: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw new BuildError('A manifest is larger than any registry has to take');
    yield chunk;
  }
}
