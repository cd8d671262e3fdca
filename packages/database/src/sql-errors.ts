/** The part of the driver's error that Prisma keeps. */
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
 * Matches SQLSTATEs only. Node's own codes (EPIPE) begin with an E, which SQLSTATEs never do. Prisma's (P2010) begin
 * with a P and a digit from 1 on, where Postgres has only class P0.
 */
const SQL_STATE = /^(?!P[1-9])[0-9A-DF-Z][0-9A-Z]{4}$/;

/** Yields an error and its causes, in turn. */
export function* causesOf(error: unknown): Generator<Error> {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    yield current;
  }
}

/**
 * Returns the five-character SQLSTATE of a Postgres error, also when it is the cause of another error or when Prisma
 * reports it; undefined for others. An error of ours may say in `sqlState` which one it is like.
 */
export function sqlState(error: unknown): string | undefined {
  for (const current of causesOf(error)) {
    const driver = driverCauseOf(current);
    const { code: ownCode, sqlState: likeState } = current as { code?: unknown; sqlState?: unknown };
    const code: unknown = likeState ?? driver?.originalCode ?? driver?.code ?? ownCode;
    if (typeof code === 'string' && SQL_STATE.test(code)) return code;
  }
  return undefined;
}

/**
 * Returns whether a deadlock or serialization failure happened: nothing was committed, and the same transaction may
 * succeed when repeated.
 */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40P01' || state === '40001';
}

/**
 * Returns whether the data of a statement was refused: cardinality (21: the same key twice), data (22: U+0000 in jsonb,
 * a number out of range), a constraint (23) or a limit (54: a key too long for its index, JSON nested too deep). Other
 * items of the same batch may be fine.
 */
export function isDataError(error: unknown): boolean {
  const stateClass = sqlState(error)?.slice(0, 2);
  return stateClass === '21' || stateClass === '22' || stateClass === '23' || stateClass === '54';
}

/** SQLSTATE of a write on a server that takes none. */
export const READ_ONLY = '25006';

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
 * SQLSTATEs of a server that shuts down, has crashed or is starting, of a transaction that was ended because it was
 * idle, and of a server that takes no writes for now: a standby, or one whose disk is full. Class 53 counts too: too
 * many connections, no memory, no disk.
 */
const UNAVAILABLE_STATES: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', READ_ONLY]);
/** The driver reports these without any code. */
const UNAVAILABLE_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|connection error and is not queryable|Query read timeout/;

/** Prisma's names for them; P2028: no connection for a transaction in time. */
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
 * Returns whether Postgres was available and did not finish a statement: it reached its time limit, or there was no
 * memory for it. The request may be too much, and may fail again.
 */
export function isTimeoutOrOutOfMemory(error: unknown): boolean {
  const state = sqlState(error);
  return state === '57014' || state === '53200';
}

/** Returns whether a row that a statement refers to does not exist, or no longer. */
export function isForeignKeyViolation(error: unknown): boolean {
  return sqlState(error) === '23503';
}

/** Returns whether a lock was not available in time: another transaction holds it, and nothing was changed. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

/** Returns whether one of several items in a write may be the cause: the others may succeed without it. */
export function mayBeFaultOfOneItem(error: unknown): boolean {
  return isDataError(error) || isTimeoutOrOutOfMemory(error) || isLockTimeout(error);
}

/**
 * Returns whether the connection was lost and the server did not say why: the statement in flight may have been the
 * cause. Clients that only see the restart afterwards get 57P02, or cannot connect. A connection that was never opened
 * looks the same (no answer in time, a proxy whose server is unavailable), so check that the database is available
 * before blaming the statement.
 */
export function isConnectionLost(error: unknown): boolean {
  for (const current of causesOf(error)) {
    const { code } = current as { code?: unknown };
    if (code === 'ECONNRESET' || current.message.includes('Connection terminated unexpectedly')) return true;
  }
  return false;
}

/**
 * Returns whether Postgres could not be reached, stopped or has no room: a later try may succeed. Nobody knows whether
 * the statement took effect. A statement that took too long and a lock that was not available do not count: Postgres
 * was available. Handles errors of `pg` and of Prisma over it.
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
