/** Asks the encryption object of a project for contexts, and to encrypt and decrypt. */
import type { EncryptionContextRequest } from '../../encryption.ts';
import { GraphLoadError } from '../../errors.ts';
import type { ProjectExport } from '../../project/read-project.ts';
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
type ContextHandler = (user: unknown, context: EncryptionContext, request: Request) => unknown;

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
  if (encrypt.json !== undefined || decrypt.json !== undefined) {
    throw new GraphLoadError(
      '"encryption.path" has handlers for JSON, which would not be asked: remove them, and name the keys to encrypt in LANGGRAPH_AES_JSON_KEYS.',
    );
  }
  if (context !== undefined && typeof context !== 'function') {
    throw new GraphLoadError('The member context of what "encryption.path" names is not a function.');
  }
  return new ProjectEncryption(exported as ConstructorParameters<typeof ProjectEncryption>[0]);
}

export class ProjectEncryption {
  readonly #handlers: { encrypt: { blob: BlobHandler }; decrypt: { blob: BlobHandler }; context?: ContextHandler };

  constructor(handlers: { encrypt: { blob: BlobHandler }; decrypt: { blob: BlobHandler }; context?: ContextHandler }) {
    this.#handlers = handlers;
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
