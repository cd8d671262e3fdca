/** What Prisma keeps of the driver's error. */
interface DriverCause {
  kind?: string;
  code?: string;
  originalCode?: string;
}

function driverCauseOf(error: unknown): DriverCause | undefined {
  return (error as { meta?: { driverAdapterError?: { cause?: DriverCause } } } | null | undefined)?.meta
    ?.driverAdapterError?.cause;
}

/**
 * Node's own codes (EPIPE) begin with an E, which SQLSTATEs never do. Prisma's (P2010) begin with a P and a digit from 1 on, where
 * Postgres has only class P0.
 */
const SQL_STATE = /^(?!P[1-9])[0-9A-DF-Z][0-9A-Z]{4}$/;

/** An error and what caused it, in turn. */
export function* causesOf(error: unknown): Generator<Error> {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    yield current;
  }
}

/**
 * The five-character SQLSTATE of a Postgres error, also when it is the cause of another error or when Prisma tells of it;
 * undefined for others.
 */
export function sqlState(error: unknown): string | undefined {
  for (const current of causesOf(error)) {
    const driver = driverCauseOf(current);
    const code: unknown = driver?.originalCode ?? driver?.code ?? (current as { code?: unknown }).code;
    if (typeof code === 'string' && SQL_STATE.test(code)) return code;
  }
  return undefined;
}

/** Deadlock or serialization failure: nothing was committed and the same transaction may succeed if run again. */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40P01' || state === '40001';
}

/**
 * The data of a statement was refused: cardinality (21: the same key twice), data (22: U+0000 in jsonb, a number out of
 * range), a constraint (23) or a limit (54: a key too long for its index, JSON nested too deep). Another item of the same batch
 * may be perfectly fine.
 */
export function isDataError(error: unknown): boolean {
  const stateClass = sqlState(error)?.slice(0, 2);
  return stateClass === '21' || stateClass === '22' || stateClass === '23' || stateClass === '54';
}

const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/**
 * Shutting down, crashed, starting, gone; a transaction ended because nobody went on with it. Class 53 besides: too many
 * connections, no memory, no disk.
 */
const UNAVAILABLE_STATES: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '57P05', '25P03']);
/** The driver reports these without any code. */
const UNAVAILABLE_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|connection error and is not queryable|Query read timeout/;

/** Prisma's own words for them; P2028: no connection for a transaction in time. */
const UNAVAILABLE_KINDS: ReadonlySet<string> = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
]);

function isUnavailableInPrisma(error: unknown): boolean {
  const driver = driverCauseOf(error);
  if (driver) return UNAVAILABLE_KINDS.has(String(driver.kind));
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'P2028' || code === 'P1001' || code === 'P1017';
}

/**
 * Postgres was there and did not get a statement done: it reached its time limit, or there was no memory for it. What it was asked
 * may be too much, and the same again may be so again.
 */
export function wasTooMuch(error: unknown): boolean {
  const state = sqlState(error);
  return state === '57014' || state === '53200';
}

/** A lock was not got in time: somebody else holds it, and nothing was changed. */
export function wasLocked(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

/** One of several items that were written together may be why the others were not: apart from it they may be written. */
export function mayBeOfOneItem(error: unknown): boolean {
  return isDataError(error) || wasTooMuch(error) || wasLocked(error);
}

/**
 * The connection was lost and the server did not say why: it may have been ended over the statement under way. Whoever met only the
 * restart after that is told so (57P02), or not let in. A connection that was never made looks the same (no answer in time, a proxy
 * whose server is away): who blames the statement asks first whether the database is there.
 */
export function wasCutOff(error: unknown): boolean {
  for (const current of causesOf(error)) {
    const { code } = current as { code?: unknown };
    if (code === 'ECONNRESET' || current.message.includes('Connection terminated unexpectedly')) return true;
  }
  return false;
}

/**
 * Postgres could not be reached, went away or has no room: worth another try in a while. Whether the statement took effect is
 * unknown. A statement that took too long and a lock that was not got are none of it: Postgres was there. Knows the errors of `pg`
 * and of Prisma over it.
 */
export function isUnavailable(error: unknown): boolean {
  if (isUnavailableInPrisma(error)) return true;
  const state = sqlState(error);
  if (state !== undefined) {
    return state.startsWith('08') || state.startsWith('53') || UNAVAILABLE_STATES.has(state);
  }
  for (const current of causesOf(error)) {
    const { code } = current as { code?: unknown };
    if (typeof code === 'string' && NETWORK_CODES.has(code)) return true;
    if (UNAVAILABLE_MESSAGES.test(current.message)) return true;
    if (current instanceof AggregateError && current.errors.some(isUnavailable)) return true;
  }
  return false;
}
