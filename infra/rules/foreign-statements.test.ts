import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findForeignStatements, foreignTablesIn } from './foreign-statements.ts';
import { FOREIGN_STATEMENTS, OWNED_TABLES } from './table-owners.ts';

it('no statement is on a table of others but the listed ones, which only shrink', () => {
  expect(findForeignStatements(join(import.meta.dirname, '../..'), OWNED_TABLES)).toEqual(FOREIGN_STATEMENTS);
});

it('a planted statement on a table of others is found in every form, and one of the owner is none', () => {
  const owned = [{ tables: ['run', 'thread', 'duty', 'cron'], owners: ['packages/run-engine'] }];
  const text = `SELECT 1 FROM "run" JOIN thread t ON true; DELETE FROM ONLY duty; UPDATE cron SET x = 1; a run FROM here`;
  expect(foreignTablesIn(text, 'services/agent-api', owned)).toEqual(['cron', 'duty', 'run', 'thread']);
  expect(foreignTablesIn(text, 'packages/run-engine', owned)).toEqual([]);
  expect(foreignTablesIn('from run import thread, run a thread', 'services/agent-api', owned)).toEqual([]);
});
