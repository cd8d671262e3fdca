import { createHash } from 'node:crypto';
import type { AuditEvent } from '@runyard/contracts';
import canonicalize from 'canonicalize';

/** The hash before the first event of an organization. */
export const CHAIN_START = '00'.repeat(32);

/** A place in a chain: the number of an event and its hash. */
export interface ChainPosition {
  sequence: number;
  hash: string;
}

/** The first event at which a chain is broken. */
export interface ChainFault {
  sequence: number;
  /**
   * `missing`: it is not there. `changed`: its content does not have its hash. `replaced`: it does not follow the one
   * before it, or is not the one that was signed.
   */
  reason: 'missing' | 'changed' | 'replaced';
}

/**
 * Returns the hash of an event, in hexadecimal digits. Fields that are null are left out, so that an event keeps its
 * hash when a later release has more of them.
 */
export function hashEvent({ previous_hash, ...event }: Omit<AuditEvent, 'hash'>): string {
  const content = Object.entries(event).filter(([name, value]) => value !== null && name !== 'hash');
  const text = canonicalize(Object.fromEntries(content)) as string;
  return createHash('sha256').update(Buffer.from(previous_hash, 'hex')).update(text).digest('hex');
}

/** Checks the events of one organization, the oldest first. */
export class ChainVerifier {
  #position: ChainPosition | undefined;
  readonly #signed: Map<number, string>;

  /**
   * @param options.after where the chain goes on; without it, the first event may have any number
   * @param options.signed positions that the chain must go through
   */
  constructor({ after, signed = [] }: { after?: ChainPosition; signed?: readonly ChainPosition[] }) {
    this.#position = after;
    this.#signed = new Map(signed.map(({ sequence, hash }) => [sequence, hash]));
  }

  /** The last event that was checked. */
  get position(): ChainPosition | undefined {
    return this.#position;
  }

  /** Returns the fault of the next event; undefined when the chain is whole up to it. */
  check(event: AuditEvent): ChainFault | undefined {
    const { sequence, hash } = event;
    const before = this.#position ?? { sequence: sequence - 1, hash: event.previous_hash };
    if (sequence !== before.sequence + 1) return { sequence: before.sequence + 1, reason: 'missing' };
    if (event.previous_hash !== before.hash) return { sequence, reason: 'replaced' };
    if (hashEvent(event) !== hash) return { sequence, reason: 'changed' };
    if ((this.#signed.get(sequence) ?? hash) !== hash) return { sequence, reason: 'replaced' };
    this.#position = { sequence, hash };
    return undefined;
  }

  /** Returns the fault of a chain that has no more events although a later one was signed. */
  end(): ChainFault | undefined {
    const last = this.#position?.sequence ?? 0;
    const isLonger = [...this.#signed.keys()].some((sequence) => sequence > last);
    return isLonger ? { sequence: last + 1, reason: 'missing' } : undefined;
  }
}
