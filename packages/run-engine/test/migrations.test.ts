import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MIGRATIONS } from './engine-fixture.ts';

const scripts = readdirSync(MIGRATIONS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({ name, sql: readFileSync(join(MIGRATIONS, name, 'migration.sql'), 'utf8') }));

it.each(scripts)('$name blocks no queries while a large table is changed', ({ sql }) => {
  const statements = sql.replace(/--.*$/gm, '');
  const ownTables = new Set([...statements.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table));
  const blocking = [...statements.matchAll(/CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)\w+\s+ON (\w+)/g)]
    .map(([, table]) => table)
    .filter((table) => !ownTables.has(table));
  expect(blocking).toEqual([]);
  // A check in ADD COLUMN makes Postgres read the whole table under an exclusive lock.
  expect(statements).not.toMatch(/ADD COLUMN[^,;]*\bCHECK\b/);
});

it('a script that builds indexes concurrently can be repeated: it first drops what a broken build left', () => {
  for (const { sql } of scripts) {
    for (const [, index] of sql.matchAll(/CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+)/g)) {
      expect(sql).toMatch(/^-- runyard: no transaction$/m);
      expect(sql).toContain(`DROP INDEX CONCURRENTLY IF EXISTS ${index};`);
    }
  }
});
