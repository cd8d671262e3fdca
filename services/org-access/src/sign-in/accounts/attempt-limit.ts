import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { TooManyRequestsError } from '@runyard/service-kit';
import type { PrismaClient } from '../../generated/client.ts';

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
  /** Emails that a person or a stranger asks for: each has attempts of their own. */
  reset: { free: 3, maxSeconds: 3_600 },
  verification: { free: 3, maxSeconds: 3_600 },
  /** Emails to an address that strangers asked for. During a pause the last one is there, and its link works. */
  mailbox: { free: 10, maxSeconds: 300 },
  /** Questions whether an address was confirmed, which clients repeat. */
  status: { free: 100, maxSeconds: 60 },
  /** Codes of programs: asked for by an address, and entered by a person. */
  device: { free: 100, maxSeconds: 60 },
  /** Registrations of MCP clients, which nothing is stored for. */
  client: { free: 100, maxSeconds: 60 },
  userCode: { free: 10, maxSeconds: 300 },
} as const satisfies Record<string, Limit>;

/** Failures are forgotten after this long without another. */
const FORGOTTEN_SECONDS = 3_600;

type Kind = keyof typeof LIMITS;
type Subject = readonly [kind: Kind, ...names: string[]];

/** Limits guesses of passwords and codes, for one account and for one network address. */
export class AttemptLimit {
  readonly #prisma: PrismaClient;

  constructor(options: { prisma: PrismaClient }) {
    this.#prisma = options.prisma;
  }

  /** Counts what an address asks for. @throws TooManyRequestsError during a pause */
  async takeForAddress(kind: 'device' | 'client' | 'challenge' | 'status', address: string | null): Promise<void> {
    await this.#count([kind, requesterAt(address)]);
  }

  /**
   * Counts an email that somebody at an address asks for without having signed in. Strangers elsewhere use up none of the
   * attempts that its owner has, and nobody floods the mailbox.
   *
   * @throws TooManyRequestsError during a pause
   */
  async takeEmail(kind: 'reset' | 'verification', email: string, address: string | null): Promise<void> {
    if (address !== null) await this.#count(['address', networkOf(address)]);
    await this.#count([kind, email, requesterAt(address)]);
    await this.#count(['mailbox', email]);
  }

  /**
   * Counts an attempt as failed before it is made, so that many at once are limited too. Whoever succeeds calls `forget`.
   *
   * @throws TooManyRequestsError during a pause
   */
  async take(
    kind: 'account' | 'secondStep' | 'passkey' | 'verification' | 'userCode',
    name: string,
    address: string | null,
  ): Promise<void> {
    if (address !== null) await this.#count(['address', networkOf(address)]);
    await this.#count([kind, name]);
  }

  /**
   * Forgets the attempts of an account after one that succeeded, and that one of its address: many people may sign in from
   * one.
   */
  async forget(kind: 'account' | 'secondStep' | 'passkey', name: string, address: string | null): Promise<void> {
    await this.#prisma.signInThrottle.deleteMany({ where: { subject: digest([kind, name]) } });
    if (address !== null) await this.#takeBack(['address', networkOf(address)]);
  }

  /** Takes the attempt of a person back who entered the code of a program rightly. */
  async takeBack(kind: 'userCode', name: string): Promise<void> {
    await this.#takeBack([kind, name]);
  }

  /** Takes one attempt back. The others stay, so that nobody covers guesses with an account or a code of their own. */
  async #takeBack(subject: Subject): Promise<void> {
    await this.#prisma.signInThrottle.updateMany({
      where: { subject: digest(subject), failures: { gt: 0 } },
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

function requesterAt(address: string | null): string {
  return address === null ? '' : networkOf(address);
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
