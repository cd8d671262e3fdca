/** Asks the encryption object of a project for contexts, and to encrypt and decrypt. */
import {
  type EncryptionContextRequest,
  GraphLoadError,
  type ProjectExport,
} from '@runyard/host-protocol/graph-process';
import { isPlainObject, requirePlainJson } from '../auth/plain-json.ts';
import { describeLoadFailure } from '../describe-failure.ts';
import { importSymbol } from '../loading/import-symbol.ts';

/** Tells handlers what they encrypt. The members are those of other servers of this API. */
interface EncryptionContext {
  model: string | null;
  field: string | null;
  metadata: Record<string, unknown>;
}

type BlobHandler = (context: EncryptionContext, bytes: Uint8Array) => unknown;
type JsonHandler = (context: EncryptionContext, data: Record<string, unknown>) => unknown;
type ContextHandler = (user: unknown, context: EncryptionContext, request: Request) => unknown;

interface Handlers {
  encrypt: { blob: BlobHandler; json?: JsonHandler };
  decrypt: { blob: BlobHandler; json?: JsonHandler };
  context?: ContextHandler;
}

/** JSON with the names of what it is a part of. */
export interface JsonToCrypt {
  model: string;
  field: string;
  data: Record<string, unknown>;
}

/** JSON as a handler has changed it, or the reason why it failed. */
export type CryptedJson = { data: Record<string, unknown> } | { error: string };

/** The most bytes of what handlers make of a data key, and the most characters of a context. */
const SIZE_MAX = 16 * 1024;

const opened = new Map<string, Promise<ProjectEncryption>>();

/** Loads each encryption object once, and again after a failure. @throws GraphLoadError */
export function openEncryption({ file, symbol }: ProjectExport, directory: string): Promise<ProjectEncryption> {
  const name = `${file}:${symbol}`;
  let encryption = opened.get(name);
  if (!encryption) {
    encryption = load({ file, symbol }, directory);
    opened.set(name, encryption);
    encryption.catch(() => opened.delete(name));
  }
  return encryption;
}

async function load(source: ProjectExport, directory: string): Promise<ProjectEncryption> {
  const exported = await importSymbol(source, directory).catch((cause) => {
    throw new GraphLoadError(describeLoadFailure('The object of "encryption.path"', cause, directory), { cause });
  });
  const { encrypt, decrypt, context } = exported as Record<string, Record<string, unknown> | undefined>;
  if (typeof encrypt?.blob !== 'function' || typeof decrypt?.blob !== 'function') {
    throw new GraphLoadError(
      `The export "${source.symbol}" that "encryption.path" names needs the functions encrypt.blob and decrypt.blob.`,
    );
  }
  const ofJson = [encrypt.json, decrypt.json].filter((handler) => handler !== undefined);
  if (ofJson.length === 1 || ofJson.some((handler) => typeof handler !== 'function')) {
    throw new GraphLoadError(
      'What "encryption.path" names needs both functions encrypt.json and decrypt.json, or none.',
    );
  }
  if (context !== undefined && typeof context !== 'function') {
    throw new GraphLoadError('The member context of what "encryption.path" names is not a function.');
  }
  return new ProjectEncryption(exported as Handlers);
}

export class ProjectEncryption {
  readonly #handlers: Handlers;

  constructor(handlers: Handlers) {
    this.#handlers = handlers;
  }

  get hasJson(): boolean {
    return this.#handlers.encrypt.json !== undefined;
  }

  get hasContext(): boolean {
    return this.#handlers.context !== undefined;
  }

  /** @throws what the handler throws; TypeError when it returns nonsense */
  async contextOf({
    user,
    method,
    url,
    headers,
  }: Omit<EncryptionContextRequest, 'source'>): Promise<Record<string, unknown>> {
    const context = { model: null, field: null, metadata: {} };
    const metadata = await this.#handlers.context?.(user, context, new Request(url, { method, headers }));
    if (!isPlainObject(metadata)) throw new TypeError('context returned no object');
    requirePlainJson(metadata, 'context');
    if (JSON.stringify(metadata).length > SIZE_MAX)
      throw new TypeError(`context is larger than ${SIZE_MAX} characters`);
    return metadata;
  }

  /** @throws what the handler throws; TypeError when it returns no bytes */
  async encrypt(metadata: Record<string, unknown>, bytes: Uint8Array): Promise<Uint8Array> {
    return requireBytes(await this.#handlers.encrypt.blob(contextOfKey(metadata), bytes), 'encrypt.blob');
  }

  /** Returns a replacement, when the handler wants one stored. @throws what the handler throws; TypeError */
  async decrypt(
    metadata: Record<string, unknown>,
    bytes: Uint8Array,
  ): Promise<{ plaintext: Uint8Array; replacement?: Uint8Array }> {
    const answer = await this.#handlers.decrypt.blob(contextOfKey(metadata), bytes);
    if (!isPlainObject(answer)) return { plaintext: requireBytes(answer, 'decrypt.blob') };
    const plaintext = requireBytes(answer.plaintext, 'the plaintext of decrypt.blob');
    const { replacement } = answer;
    if (replacement === undefined || replacement === null) return { plaintext };
    return { plaintext, replacement: requireBytes(replacement, 'the replacement of decrypt.blob') };
  }

  /** Returns an answer for each object, in their order: a handler that fails at one may encrypt the others. */
  async json(
    action: 'encrypt' | 'decrypt',
    metadata: Record<string, unknown>,
    objects: JsonToCrypt[],
  ): Promise<CryptedJson[]> {
    return Promise.all(
      objects.map(async ({ model, field, data }) => {
        try {
          // Handlers may write to what they get, and its keys say what they have to return.
          const keys = Object.keys(data);
          const answer = await this.#handlers[action].json?.({ model, field, metadata: { ...metadata } }, data);
          return { data: requireJson(action === 'decrypt' ? plaintextOf(answer, keys) : answer, `${action}.json`) };
        } catch (error) {
          return { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
        }
      }),
    );
  }
}

/**
 * Returns the data of `{plaintext, replacement}`, a form of answers of `decrypt.json`. What is stored is encrypted anew
 * with each write, so that the replacement is not needed.
 */
function plaintextOf(answer: unknown, keys: string[]): unknown {
  if (!isPlainObject(answer) || !isPlainObject(answer.plaintext) || keys.includes('plaintext')) return answer;
  return Object.keys(answer).every((key) => key === 'plaintext' || key === 'replacement') ? answer.plaintext : answer;
}

function requireJson(value: unknown, handler: string): Record<string, unknown> {
  if (!isPlainObject(value)) throw new TypeError(`${handler} returned no object`);
  requirePlainJson(value, `what ${handler} returned`);
  return value;
}

/** Handlers encrypt data keys alone, which are of no model of the API. */
function contextOfKey(metadata: Record<string, unknown>): EncryptionContext {
  return { model: 'data_key', field: 'key', metadata };
}

function requireBytes(value: unknown, name: string): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new TypeError(`${name} is no Uint8Array`);
  if (value.byteLength === 0 || value.byteLength > SIZE_MAX)
    throw new TypeError(`${name} has ${value.byteLength} bytes`);
  return value;
}
