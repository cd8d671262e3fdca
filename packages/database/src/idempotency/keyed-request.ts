import { createHash, randomUUID } from 'node:crypto';
import { IDEMPOTENCY_KEY_HEADER, IDEMPOTENCY_KEY_LENGTH_MAX, type Operation } from '@runyard/contracts';
import { type HandlerRequest, UnprocessableError, type ValidationErrorStyle } from '@runyard/service-kit';

/** How answers are kept. */
export interface AnswerSeal {
  seal(bytes: Uint8Array): Buffer;
  open(bytes: Uint8Array): Buffer;
}

/** A request for a creation that may come again, and is to create once. */
export interface KeyedRequest {
  /** Whose key it is, for which operations, and the key: as a SHA-256, so that neither can be read from the table. */
  readonly id: Buffer;
  /** What is asked for: operation, path, query and body, as a SHA-256 with the key as its salt. */
  readonly digest: Buffer;
  /** This attempt (uuid), so that one that was given up cannot finish what another has begun anew. */
  readonly claim: string;
  readonly keptMs: number;
  /** The JSON value as it is kept. */
  seal(answer: unknown): Buffer;
}

export interface KeyedRequestOptions {
  keptMs: number;
  seal: AnswerSeal;
  validationErrors: ValidationErrorStyle;
}

type Asked = Pick<HandlerRequest, 'raw' | 'caller' | 'params' | 'query' | 'body'>;

/**
 * Undefined for a request without a key, which costs nothing then.
 *
 * @throws UnprocessableError for a key that is none
 */
export function keyedRequest(
  operation: Operation,
  request: Asked,
  { keptMs, seal, validationErrors }: KeyedRequestOptions,
): KeyedRequest | undefined {
  if (request.raw.headers[IDEMPOTENCY_KEY_HEADER] === undefined) return undefined;
  const key = keyOf(request.raw.headersDistinct[IDEMPOTENCY_KEY_HEADER] ?? []);
  if (key === undefined) {
    const msg = `must be 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} printable ASCII characters, given once`;
    throw refusal(msg, validationErrors);
  }
  const { kind, organizationId, workspaceId, identity } = request.caller;
  const { params, query, body } = request;
  return {
    id: sha256([kind, organizationId, workspaceId ?? null, identity, operation.idempotencyGroup, key]),
    digest: sha256([key, operation.operationId, params, query, body]),
    claim: randomUUID(),
    keptMs,
    seal: (answer) => seal.seal(Buffer.from(JSON.stringify(answer))),
  };
}

/** The request with its key bound for no longer than this, for what is good for a time only: an answer that is none any more helps nobody. */
export function boundFor(request: KeyedRequest | undefined, ms: number): KeyedRequest | undefined {
  return request && { ...request, keptMs: Math.min(request.keptMs, ms) };
}

/** About the header of the key, in the words of the service. */
export function refusal(message: string, style: ValidationErrorStyle): UnprocessableError {
  const loc = ['header', IDEMPOTENCY_KEY_HEADER];
  const msg = `Header ${IDEMPOTENCY_KEY_HEADER} ${message}`;
  if (style === 'text') return new UnprocessableError(msg);
  return new UnprocessableError(msg, { body: { detail: [{ loc, msg, type: 'idempotency_key_error' }] } });
}

const PRINTABLE = new RegExp(`^[\\x20-\\x7e]{1,${IDEMPOTENCY_KEY_LENGTH_MAX}}$`);
/** A string as structured headers write it: `"a\"b"`. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

function keyOf(given: string[]): string | undefined {
  const [text] = given;
  if (text === undefined || given.length > 1 || !PRINTABLE.test(text)) return undefined;
  const quoted = QUOTED.exec(text);
  return (quoted ? quoted[1]!.replace(/\\(["\\])/g, '$1') : text) || undefined;
}

function sha256(parts: unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}
