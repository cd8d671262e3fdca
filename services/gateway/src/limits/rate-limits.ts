import type { ErrorCodeOf, PrincipalClaims } from '@runyard/contracts';
import { TooManyRequestsError } from '@runyard/service-kit';
import type { Config } from '../config.ts';
import { type Bucket, type Rate, RateLimit } from './rate-limit.ts';

/** The sender of a request, as far as the gateway knows it. */
export interface RateLimitedCaller {
  /** Absent for callers the platform does not know. */
  claims?: PrincipalClaims | undefined;
  /** The id of a good credential, for a request that it does not reach. */
  credentialId?: string | undefined;
  address: string;
}

interface Dimension {
  name: string;
  /** Returns the subject of the request; undefined where it is not counted in this dimension. */
  subjectOf(caller: RateLimitedCaller): string | undefined;
  code: ErrorCodeOf<429>;
  /** The detail of the 429. */
  detail: string;
  rateOf(config: Config): Rate;
}

/** The dimensions in which requests are counted, each with a rate of its own. */
const DIMENSIONS: readonly Dimension[] = [
  {
    name: 'key',
    code: 'rate_of_key_exceeded',
    subjectOf: ({ claims, credentialId }) => (claims ? (claims.key_id ?? claims.sub) : credentialId),
    detail: 'Too many requests with this key',
    rateOf: (config) => rate(config.RATE_LIMIT_RPS, config.RATE_LIMIT_BURST),
  },
  {
    name: 'tenant',
    code: 'rate_of_workspace_exceeded',
    subjectOf: ({ claims }) => claims && (claims.workspace_id ?? claims.organization_id),
    detail: 'Too many requests of this workspace',
    rateOf: (config) => rate(config.RATE_LIMIT_TENANT_RPS, config.RATE_LIMIT_TENANT_BURST),
  },
  {
    name: 'person',
    code: 'rate_of_person_exceeded',
    subjectOf: ({ claims }) => claims?.person_id,
    detail: 'Too many requests of this person',
    rateOf: (config) => rate(config.RATE_LIMIT_PERSON_RPS, config.RATE_LIMIT_PERSON_BURST),
  },
  {
    name: 'organization',
    code: 'rate_of_organization_exceeded',
    subjectOf: ({ claims }) => claims?.organization_id,
    detail: 'Too many requests of this organization',
    rateOf: (config) => rate(config.RATE_LIMIT_ORGANIZATION_RPS, config.RATE_LIMIT_ORGANIZATION_BURST),
  },
  {
    name: 'address',
    code: 'rate_of_address_exceeded',
    subjectOf: ({ claims, credentialId, address }) => (claims || credentialId !== undefined ? undefined : address),
    detail: 'Too many requests from this address',
    rateOf: (config) => rate(config.RATE_LIMIT_ADDRESS_RPS, config.RATE_LIMIT_ADDRESS_BURST),
  },
];

/** The subject of a failure: the id of a good credential that did not reach what was requested, else an address. */
export type FailureSubject = { credentialId: string } | { address: string };

/** Failures to authenticate are no requests: they are counted when they happen, and checked beforehand. */
const FAILURES: Omit<Dimension, 'subjectOf' | 'detail'> = {
  name: 'authentication_failures',
  code: 'too_many_failures_to_authenticate',
  rateOf: (config) => rate(config.RATE_LIMIT_FAILURES_RPS, config.RATE_LIMIT_FAILURES_BURST),
};

function rate(perSecond: number, burst = Math.max(1, Math.ceil(perSecond * 2))): Rate {
  return { perSecond, burst };
}

type ActiveDimension = Pick<Dimension, 'subjectOf' | 'code' | 'detail'> & { limit: RateLimit };

/** Decides whether a caller has sent too much, without making any request wait. */
export class RateLimits {
  readonly #dimensions: readonly ActiveDimension[];
  readonly #failures: RateLimit | undefined;

  constructor(config: Config, onTaken: (bucket: Bucket) => void = () => undefined) {
    const limitOf = ({ name, rateOf }: Pick<Dimension, 'name' | 'rateOf'>) => {
      const { perSecond, burst } = rateOf(config);
      return perSecond === 0 ? undefined : new RateLimit({ name, perSecond, burst, onTaken });
    };
    this.#dimensions = DIMENSIONS.flatMap((dimension) => {
      const limit = limitOf(dimension);
      return limit ? [{ ...dimension, limit }] : [];
    });
    this.#failures = limitOf(FAILURES);
  }

  /**
   * Counts a request in every dimension, or in none when one has no room.
   *
   * @returns headers for the answer, names and values
   * @throws TooManyRequestsError
   */
  take(caller: RateLimitedCaller): string[] {
    const counted = this.#countedOf(caller);
    for (const each of counted) {
      if (!each.limit.hasRoom(each.subject)) throw refusal(each);
    }
    for (const { limit, subject } of counted) limit.take(subject);
    if (counted.length === 0) return [];
    return [
      'ratelimit-policy',
      counted.map(({ limit }) => limit.policy).join(', '),
      'ratelimit',
      counted.map(({ limit, subject }) => limit.state(subject)).join(', '),
    ];
  }

  /**
   * Counts a message of a websocket as a request, when every dimension has room.
   *
   * @returns the milliseconds until there is room; 0 when it was counted
   */
  takeMessage(caller: RateLimitedCaller): number {
    const counted = this.#countedOf(caller);
    const missing = Math.max(0, ...counted.map(({ limit, subject }) => limit.retryAfterSeconds(subject) * 1000));
    if (missing > 0) return Math.ceil(missing);
    for (const { limit, subject } of counted) limit.take(subject);
    return 0;
  }

  /**
   * Returns the refusal of what may be guesses, before they are checked; undefined where guessing has room.
   */
  refusalOfGuesses(of: FailureSubject): TooManyRequestsError | undefined {
    const limit = this.#failures;
    const { subject, detail } = describeFailures(of);
    return limit && !limit.hasRoom(subject) ? refusal({ ...FAILURES, detail, limit, subject }) : undefined;
  }

  countFailure(of: FailureSubject): void {
    this.#failures?.take(describeFailures(of).subject);
  }

  #countedOf(caller: RateLimitedCaller): (Omit<ActiveDimension, 'subjectOf'> & { subject: string })[] {
    return this.#dimensions.flatMap(({ subjectOf, ...dimension }) => {
      const subject = subjectOf(caller);
      return subject === undefined ? [] : [{ ...dimension, subject }];
    });
  }
}

function describeFailures(of: FailureSubject): { subject: string; detail: string } {
  return 'address' in of
    ? { subject: of.address, detail: 'Too many failures to authenticate from this address' }
    : { subject: of.credentialId, detail: 'Too many requests with this key for what it does not reach' };
}

function refusal({
  limit,
  subject,
  code,
  detail,
}: Pick<ActiveDimension, 'limit' | 'code' | 'detail'> & { subject: string }): TooManyRequestsError {
  return new TooManyRequestsError(detail, {
    code,
    retryAfterSeconds: limit.retryAfterSeconds(subject),
    headers: { 'ratelimit-policy': limit.policy, ratelimit: limit.state(subject) },
  });
}
