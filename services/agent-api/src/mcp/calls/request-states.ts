import { createHash, hkdfSync } from 'node:crypto';
import { Cipher, EncryptionError } from '@runyard/encryption';
import canonicalize from 'canonicalize';
import type { Fields } from '../../http/fields.ts';
import { invalidParams } from '../protocol/mcp-error.ts';

/** A call that waits for its user, as its client carries it to the next request. */
export interface RequestState {
  taskId: string;
  /** The run that asks. */
  runId: string;
  /** Answers that were given so far, by interrupt. */
  answers: Fields;
}

/** The request that a state belongs to. */
export interface StateOwner {
  /** Identity of the caller. */
  identity: string;
  tool: string;
  arguments: Fields;
}

const PURPOSE = 'mcp request state v1';

/**
 * Encrypts the states of calls for their clients. A state is of one caller and one call, and expires. Every process of
 * a deployment reads those of the others.
 */
export class RequestStates {
  readonly #cipher: Cipher;
  readonly #ttlMs: number;
  readonly #now: () => number;

  /** @param options `ttlMs` milliseconds; `now` in milliseconds since 1970 */
  constructor(secret: Uint8Array, options: { ttlMs: number; now?: () => number }) {
    this.#cipher = new Cipher(Buffer.from(hkdfSync('sha256', secret, '', PURPOSE, 32)).toString('base64'));
    this.#ttlMs = options.ttlMs;
    this.#now = options.now ?? Date.now;
  }

  seal(owner: StateOwner, { taskId, runId, answers }: RequestState): string {
    const expires = this.#now() + this.#ttlMs;
    return this.#cipher.encrypt(JSON.stringify([taskId, runId, answers, expires]), placeOf(owner));
  }

  /** @throws McpError for a state that was changed, has expired, or is of another caller or call */
  open(owner: StateOwner, state: string): RequestState {
    const [taskId, runId, answers, expires] = JSON.parse(this.#decrypt(owner, state)) as [
      string,
      string,
      Fields,
      number,
    ];
    if (expires <= this.#now()) throw invalidParams('requestState has expired: call the tool again');
    return { taskId, runId, answers };
  }

  #decrypt(owner: StateOwner, state: string): string {
    try {
      return this.#cipher.decrypt(state, placeOf(owner));
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      throw invalidParams('requestState is not one of this call');
    }
  }
}

function placeOf({ identity, tool, arguments: args }: StateOwner): string {
  const call = canonicalize([identity, tool, args])!;
  return `mcp/request-state/${createHash('sha256').update(call).digest('base64url')}`;
}
