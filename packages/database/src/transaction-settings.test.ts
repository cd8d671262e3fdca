import { expect, it } from 'vitest';
import { isBegin, setInTransaction } from './transaction-settings.ts';

const LIMITS = { statement_timeout: 8000, lock_timeout: 5000 };

it('sets the limits of a session in a transaction, before what the transaction sets itself', () => {
  const set = '; SET LOCAL statement_timeout = 8000; SET LOCAL lock_timeout = 5000';
  expect(setInTransaction('BEGIN', LIMITS)).toBe(`BEGIN${set}`);
  expect(setInTransaction('BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL lock_timeout = 100', LIMITS)).toBe(
    `BEGIN ISOLATION LEVEL REPEATABLE READ${set}; SET LOCAL lock_timeout = 100`,
  );
});

it('knows the statements that begin a transaction', () => {
  expect(['BEGIN', ' begin; SELECT 1', 'BEGIN ISOLATION LEVEL SERIALIZABLE'].every(isBegin)).toBe(true);
  expect(['COMMIT', 'BEGINNING', 'SELECT 1; BEGIN'].some(isBegin)).toBe(false);
});
