import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { TooManyRequestsError } from '@runyard/service-kit';
import type { PrismaClient } from '../generated/client.ts';

interface Limit {
  /** Failures before the first pause. */
  free: number;
  /** The longest pause, in seconds. Pauses begin with five and double. */
  maxSeconds: number;
}

/**
 * Strangers can keep nobody out of an account for long: its pauses are short, and those of an address, which can be many
 * accounts' guesses, are not.
 */
const LIMITS = {
  account: { free: 5, maxSeconds: 30 },
  secondStep: { free: 5, maxSeconds: 300 },
  /** Proofs of one passkey, which nobody guesses: a fault of the authenticator should not cost more. */
  passkey: { free: 5, maxSeconds: 30 },
  /** Questions for a passkey, which anybody may have asked by opening a page. */
  challenge: { free: 100, maxSeconds: 60 },
  address: { free: 20, maxSeconds: 900 },
  /** Emails that somebody else may have asked for. */
  reset: { free: 3, maxSeconds: 3_600 },
  verification: { free: 3, maxSeconds: 3_600 },
  /** Codes of programs: asked for by an address, and entered by a person. */
  device: { free: 100, maxSeconds: 60 },
  userCode: { free: 10, maxSeconds: 300 },
} as const satisfies Record<string, Limit>;

/** Failures are forgotten after this long without another. */
const FORGOTTEN_SECONDS = 3_600;

type Subject = readonly [kind: keyof typeof LIMITS, name: string];

/** Limits guesses of passwords and codes, for one account and for one network address. */
export class AttemptLimit {
  readonly #prisma: PrismaClient;

  constructor(options: { prisma: PrismaClient }) {
    this.#prisma = options.prisma;
  }

  /** Counts what an address asks for. @throws TooManyRequestsError during a pause */
  async takeForAddress(kind: 'device' | 'challenge', address: string | null): Promise<void> {
    await this.#count([kind, address === null ? '' : networkOf(address)]);
  }

  /**
   * Counts an attempt as failed before it is made, so that many at once are limited too. Whoever succeeds calls `forget`.
   *
   * @throws TooManyRequestsError during a pause
   */
  async take(
    kind: Exclude<keyof typeof LIMITS, 'address' | 'device' | 'challenge'>,
    name: string,
    address: string | null,
  ): Promise<void> {
    if (address !== null) await this.#count(['address', networkOf(address)]);
    await this.#count([kind, name]);
  }

  /**
   * Forgets the attempts of an account after one that succeeded, and that one of its address: many people may sign in from
   * one. The other attempts of the address stay, so that nobody covers guesses with an account of their own.
   */
  async forget(
    kind: 'account' | 'secondStep' | 'passkey' | 'userCode',
    name: string,
    address: string | null,
  ): Promise<void> {
    await this.#prisma.signInThrottle.deleteMany({ where: { subject: digest([kind, name]) } });
    if (address === null) return;
    await this.#prisma.signInThrottle.updateMany({
      where: { subject: digest(['address', networkOf(address)]), failures: { gt: 0 } },
      data: { failures: { decrement: 1 }, blockedUntil: null },
    });
  }

  async #count(subject: Subject): Promise<void> {
    const { free, maxSeconds } = LIMITS[subject[0]];
    const key = digest(subject);
    const counted = await this.#prisma.$executeRaw`
      INSERT INTO sign_in_throttle AS throttle (subject, failures, last_failed_at)
      VALUES (${key}, 1, now())
      ON CONFLICT (subject) DO UPDATE SET
        failures = CASE WHEN throttle.last_failed_at < now() - ${FORGOTTEN_SECONDS} * interval '1 s' THEN 1
          ELSE throttle.failures + 1 END,
        last_failed_at = now(),
        blocked_until = CASE
          WHEN throttle.last_failed_at < now() - ${FORGOTTEN_SECONDS} * interval '1 s' THEN NULL
          WHEN throttle.failures + 1 >= ${free}
            THEN now() + least(${maxSeconds}, 5 * power(2, least(throttle.failures + 1 - ${free}, 20))) * interval '1 s'
        END
      WHERE throttle.blocked_until IS NULL OR throttle.blocked_until <= now()`;
    if (counted > 0) return;
    const row = await this.#prisma.signInThrottle.findUnique({ where: { subject: key } });
    const retryAfterSeconds = Math.max(1, ((row?.blockedUntil?.getTime() ?? 0) - Date.now()) / 1000);
    throw new TooManyRequestsError('Too many attempts to sign in: wait a little', {
      code: 'sign_in_throttled',
      retryAfterSeconds,
    });
  }
}

/** Returns the part of an address that one subscriber has. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

function digest(subject: Subject): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(JSON.stringify(subject)).digest());
}
