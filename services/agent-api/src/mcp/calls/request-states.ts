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
interface StateOwner {
  /** Identity of the caller. */
  identity: string;
  tool: string;
  arguments: Fields;
}

/** The place of the states of one request: made of all that it is, and much smaller. */
export type StatePlace = string;

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

  seal(place: StatePlace, { taskId, runId, answers }: RequestState): string {
    const expires = this.#now() + this.#ttlMs;
    return this.#cipher.encrypt(JSON.stringify([taskId, runId, answers, expires]), place);
  }

  /** @throws McpError for a state that was changed, has expired, or is of another caller or call */
  open(place: StatePlace, state: string): RequestState {
    const [taskId, runId, answers, expires] = JSON.parse(this.#decrypt(place, state)) as [
      string,
      string,
      Fields,
      number,
    ];
    if (expires <= this.#now()) throw invalidParams('requestState has expired: call the tool again');
    return { taskId, runId, answers };
  }

  #decrypt(place: StatePlace, state: string): string {
    try {
      return this.#cipher.decrypt(state, place);
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      throw invalidParams('requestState is not one of this call');
    }
  }
}

export function placeOf({ identity, tool, arguments: args }: StateOwner): StatePlace {
  const call = canonicalize([identity, tool, args])!;
  return `mcp/request-state/${createHash('sha256').update(call).digest('base64url')}`;
}
