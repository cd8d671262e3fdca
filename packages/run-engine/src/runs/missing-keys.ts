import { EncryptionError, EncryptionUnavailableError, KeyUnavailableError, keyIdOfHeader } from '@runyard/encryption';
import type { Fence } from '../types.ts';
import { KEY_WAITS } from './key-waits.ts';
import type { RunRelease } from './types.ts';

/** Reports that runs wait for a key. */
export interface MissingKeyReport {
  /** Names one of the missing keys, in hexadecimal; undefined for a key that no stored value names yet. */
  keyId: string | undefined;
  reason: string;
  /** Number of runs of the deployment that wait for keys; undefined when it could not be read. */
  waitingRuns: number | undefined;
}

export interface MissingKeysOptions {
  release(fence: Fence, release: RunRelease): Promise<unknown>;
  countWaiting(): Promise<number>;
  onMissing?: ((report: MissingKeyReport) => void) | undefined;
  /** Milliseconds until a run is tried again that handlers of the project refused for a reason of its own. */
  refusedRetryMs: number;
  now?: (() => number) | undefined;
}

/** Number of keys that are left out of claims. Runs of any further ones are claimed, and given back again. */
const KEYS_MAX = 1_000;

/**
 * Gives back claimed runs that cannot be decrypted here, and remembers their keys, so that this worker leaves them out
 * of its next claims: with the wrong key it would else claim the whole queue, again and again.
 */
export class MissingKeys {
  readonly #options: MissingKeysOptions;
  readonly #now: () => number;
  /** The time until which each key is left out, by its header in hexadecimal, soonest first. */
  readonly #leftOutUntil = new Map<string, number>();
  #missed: { keyId: string | undefined; reason: string } | undefined;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(options: MissingKeysOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Returns the headers of the values whose key this process failed to get a moment ago. */
  headers(): Buffer[] {
    const now = this.#now();
    for (const [header, until] of this.#leftOutUntil) {
      if (until > now) break;
      this.#leftOutUntil.delete(header);
    }
    return [...this.#leftOutUntil.keys()].map((header) => Buffer.from(header, 'hex'));
  }

  /**
   * Releases a claimed run that is not decrypted here; returns whether its key is left out from now on. Never rejects.
   *
   * @param header names the key of its arguments
   */
  async giveBack(fence: Fence, header: Buffer | undefined, error: unknown): Promise<boolean> {
    const keyId = isKeyMissing(error) ? keyIdOf(error, header) : undefined;
    const isOfArguments = header !== undefined && keyId === keyIdOfHeader(header);
    if (isOfArguments) this.#leaveOut(header);
    if (isKeyMissing(error)) this.#missed = { keyId, reason: error.message };
    // A run that cannot be released now returns when the lease expires: no worker executes it.
    await this.#options.release(fence, this.#releaseFor(error, header)).catch(() => undefined);
    return isOfArguments;
  }

  /** Reports what was given back, at most once in the time for which a key is left out. Never rejects. */
  async report(): Promise<void> {
    const { onMissing, countWaiting } = this.#options;
    const missed = this.#missed;
    this.#missed = undefined;
    if (!onMissing || !missed || this.#now() - this.#reportedAt < KEY_WAITS.leftOutMs) return;
    this.#reportedAt = this.#now();
    onMissing({ ...missed, waitingRuns: await countWaiting().catch(() => undefined) });
  }

  #leaveOut(header: Buffer): void {
    const name = header.toString('hex');
    this.#leftOutUntil.delete(name);
    this.#leftOutUntil.set(name, this.#now() + KEY_WAITS.leftOutMs);
    if (this.#leftOutUntil.size > KEYS_MAX) this.#leftOutUntil.delete(this.#leftOutUntil.keys().next().value!);
  }

  #releaseFor(error: unknown, header: Buffer | undefined): RunRelease {
    if (isKeyMissing(error)) {
      return { awaitsKey: 'beforeExecution', cause: causeOf(error, keyIdOf(error, header)) };
    }
    const delayMs = this.#options.refusedRetryMs;
    if (!(error instanceof EncryptionError)) return { delayMs };
    return { failure: { error: error.name, message: error.message }, delayMs };
  }
}

function isKeyMissing(error: unknown): error is KeyUnavailableError | EncryptionUnavailableError {
  return error instanceof KeyUnavailableError || error instanceof EncryptionUnavailableError;
}

function keyIdOf(error: Error, header: Buffer | undefined): string | undefined {
  return error instanceof KeyUnavailableError ? error.keyId : header && keyIdOfHeader(header);
}

function causeOf({ message }: Error, keyId: string | undefined) {
  return { error: 'EncryptionKeyUnavailable', message: keyId ? `${message} Key ${keyId}.` : message };
}
