import { createHash, randomBytes } from 'node:crypto';
import {
  type ErrorCodeOf,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_KEY_LENGTH_MAX,
  type Operation,
} from '@runyard/contracts';
import { type HandlerRequest, UnprocessableError, type ValidationErrorStyle } from '@runyard/service-kit';

/** Encrypts and decrypts stored answers. */
export interface AnswerCipher {
  encrypt(bytes: Uint8Array): Buffer;
  decrypt(bytes: Uint8Array): Buffer;
  /** Returns a function that runs work as the caller's own, where that decides how it is encrypted. */
  currentScope?(): <T>(work: () => T) => T;
}

/** A request for a creation that may be repeated, and must create once. */
export interface KeyedRequest {
  /** The caller, the group of operations and the key as a SHA-256, so that the table reveals none of them. */
  readonly id: Buffer;
  /** Operation, path, query and body, as they came, as a SHA-256 with the key as its salt. */
  readonly digest: Buffer;
  /**
   * The id of this attempt (uuid): an abandoned attempt must not finish what another has begun again. Its second half
   * is a digest of the same in whatever order objects have their keys: a client may write them in another one when it
   * repeats its request. Earlier releases, which may run beside this one, compare `digest`.
   */
  readonly claim: string;
  readonly keptMs: number;
  /** Encrypts the JSON value for storage. */
  encrypt(answer: unknown): Buffer;
}

export interface KeyedRequestOptions {
  keptMs: number;
  cipher: AnswerCipher;
  validationErrors: ValidationErrorStyle;
}

export type Asked = Pick<HandlerRequest, 'raw' | 'caller' | 'params' | 'query' | 'body'>;

/**
 * Returns undefined for a request without a key, which then costs nothing.
 *
 * @throws UnprocessableError for an invalid key
 */
export function keyedRequest(
  operation: Operation,
  request: Asked,
  { keptMs, cipher, validationErrors }: KeyedRequestOptions,
): KeyedRequest | undefined {
  if (request.raw.headers[IDEMPOTENCY_KEY_HEADER] === undefined) return undefined;
  const key = keyOf(request.raw.headersDistinct[IDEMPOTENCY_KEY_HEADER] ?? []);
  if (key === undefined) {
    const msg = `must be 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} printable ASCII characters, given once`;
    throw refusal(msg, validationErrors);
  }
  const { params, query, body } = request;
  return {
    id: sha256([...ownerOf(operation, request), operation.idempotencyGroup, key]),
    ...identify([key, operation.operationId, params, query, body]),
    keptMs,
    encrypt: encryptionOf(cipher),
  };
}

/** Returns a request for a creation that is known by a name of its own instead of a header: any request with it is equal. */
export function namedRequest(
  name: readonly string[],
  { keptMs, cipher }: Pick<KeyedRequestOptions, 'keptMs' | 'cipher'>,
): KeyedRequest {
  return {
    id: nameId(name),
    ...identify(['named', ...name]),
    keptMs,
    encrypt: encryptionOf(cipher),
  };
}

function identify(parts: unknown[]): Pick<KeyedRequest, 'digest' | 'claim'> {
  const attempt = [...randomBytes(8), ...digestOf(JSON.stringify(parts, inOrder)).subarray(0, 8)];
  return { digest: sha256(parts), claim: uuidOf(Buffer.from(attempt)) };
}

/** Returns whether a key is bound to the same request, or claimed for it. */
export function isSameRequest(one: Pick<KeyedRequest, 'digest' | 'claim'>, other: typeof one): boolean {
  return one.digest.equals(other.digest) || one.claim.slice(CONTENT_AT) === other.claim.slice(CONTENT_AT);
}

/** The place of the second half in the text of a uuid. */
const CONTENT_AT = '00000000-0000-0000-'.length;

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Gives the keys of objects an order of their own, for `JSON.stringify`. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Encrypts as the caller's own: the answers of many requests are stored together, by one of them. */
function encryptionOf(cipher: AnswerCipher): KeyedRequest['encrypt'] {
  const inScope = cipher.currentScope?.() ?? ((work) => work());
  return (answer) => inScope(() => cipher.encrypt(Buffer.from(JSON.stringify(answer))));
}

/** Returns the id of a name's key. It is none that a header can have. */
export function nameId(name: readonly string[]): Buffer {
  return sha256(['name', ...name]);
}

/** Returns what tells the owner of a key from all others. */
function ownerOf(operation: Operation, { caller }: Asked): (string | null)[] {
  const { kind, organizationId, workspaceId, identity, personId } = caller;
  // A change that people make for themselves may change where they act by default: the repeated request is theirs too.
  if (operation.permission === 'signed-in person' && personId !== undefined) return [kind, 'person', personId];
  return [kind, organizationId, workspaceId ?? null, identity];
}

/** Limits how long the key is bound, for answers that expire: an expired answer must not be repeated. */
export function boundFor(request: KeyedRequest | undefined, ms: number): KeyedRequest | undefined {
  return request && { ...request, keptMs: Math.min(request.keptMs, ms) };
}

/** Makes the error about the key's header in the form of the service. */
export function refusal(
  message: string,
  style: ValidationErrorStyle,
  code: ErrorCodeOf<422> = 'invalid_request',
): UnprocessableError {
  const loc = ['header', IDEMPOTENCY_KEY_HEADER];
  const msg = `Header ${IDEMPOTENCY_KEY_HEADER} ${message}`;
  if (style === 'text') return new UnprocessableError(msg, { code });
  return new UnprocessableError(msg, { code, body: { detail: [{ loc, msg, type: 'idempotency_key_error' }] } });
}

const PRINTABLE = new RegExp(`^[\\x20-\\x7e]{1,${IDEMPOTENCY_KEY_LENGTH_MAX}}$`);
/** Matches a string of structured headers: `"a\"b"`. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

function keyOf(given: string[]): string | undefined {
  const [text] = given;
  if (text === undefined || given.length > 1 || !PRINTABLE.test(text)) return undefined;
  const quoted = QUOTED.exec(text);
  return (quoted ? quoted[1]!.replace(/\\(["\\])/g, '$1') : text) || undefined;
}

function sha256(parts: unknown[]): Buffer {
  return digestOf(JSON.stringify(parts));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
