import { describe, expect, it } from 'vitest';
import {
  isConnectionLost,
  isDataError,
  isLockTimeout,
  isRetryable,
  isTimeoutOrOutOfMemory,
  isUnavailable,
  mayBeFaultOfOneItem,
  sqlState,
} from './sql-errors.ts';

/** Makes Prisma's error over `pg`, with its own code and the driver's inside. */
const prismaError = (code: string, cause?: { kind?: string; originalCode?: string }) =>
  Object.assign(new Error('from Prisma'), { code, ...(cause && { meta: { driverAdapterError: { cause } } }) });
const driverError = (code: string) => Object.assign(new Error('from the driver'), { code });

describe('the SQLSTATE of an error', () => {
  it('is that of the driver, also inside another error', () => {
    expect(sqlState(driverError('23505'))).toBe('23505');
    expect(sqlState(new Error('outer', { cause: driverError('40P01') }))).toBe('40P01');
    expect(sqlState(driverError('P0001'))).toBe('P0001');
    expect(sqlState(driverError('EPIPE'))).toBeUndefined();
  });

  it("is Postgres', never a code of Prisma itself", () => {
    expect(sqlState(prismaError('P2010', { originalCode: '22008' }))).toBe('22008');
    expect(sqlState(prismaError('P2010'))).toBeUndefined();
    expect(isDataError(prismaError('P2010', { originalCode: '22008' }))).toBe(true);
    expect(isRetryable(prismaError('P2034', { originalCode: '40001' }))).toBe(true);
  });
});

describe('an unavailable database', () => {
  it.each(['57P01', '57P03', '53300', '53200', '25P03', '08006', 'ECONNRESET', 'ETIMEDOUT'])(
    'is recognized by %s of the driver',
    (code) => {
      expect(isUnavailable(driverError(code))).toBe(true);
    },
  );

  it('is recognized behind Prisma by state, by kind and by code', () => {
    expect(isUnavailable(prismaError('P2010', { originalCode: '57P01' }))).toBe(true);
    expect(isUnavailable(prismaError('P2010', { kind: 'ConnectionClosed' }))).toBe(true);
    expect(isUnavailable(prismaError('P2028'))).toBe(true);
    expect(isUnavailable(prismaError('P2002', { kind: 'UniqueConstraintViolation', originalCode: '23505' }))).toBe(
      false,
    );
  });
});

it('a statement that exceeded its time or the memory was too much; one that met an outage was not', () => {
  expect(['57014', '53200'].map((code) => isTimeoutOrOutOfMemory(driverError(code)))).toEqual([true, true]);
  expect(['57P01', '53300', 'ECONNREFUSED'].map((code) => isTimeoutOrOutOfMemory(driverError(code)))).toEqual([
    false,
    false,
    false,
  ]);
});

it('a statement timeout, a lock timeout and a deadlock are no outage of the database', () => {
  const states = ['57014', '55P03', '40P01', '40001'].map(driverError);
  expect(states.map(isUnavailable)).not.toContain(true);
  expect(states.map(isLockTimeout)).toEqual([false, true, false, false]);
  expect(states.map(mayBeFaultOfOneItem)).toEqual([true, true, false, false]);
});

it('a connection that was lost because of its statement is distinguished from a server that restarts', () => {
  const cutOff = new Error('failed', { cause: new Error('Connection terminated unexpectedly') });
  expect([cutOff, driverError('ECONNRESET')].map(isConnectionLost)).toEqual([true, true]);
  expect(['57P01', '57P02', '57P03', 'ECONNREFUSED'].map((code) => isConnectionLost(driverError(code)))).not.toContain(
    true,
  );
});
