import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceFiles } from './source-files.ts';
import { isTestFile, packageOf } from './source-imports.ts';
import type { OwnedTables } from './table-owners.ts';

/** Matches the table that a clause of SQL begins with: keywords are written in capitals. */
const TABLES = /\b(?:FROM|JOIN|INTO|UPDATE|USING|TABLE)\s+(?:ONLY\s+)?"?([a-z_]+)"?/g;

/** Returns the tables of others that files of the product have statements on, by file. */
export function findForeignStatements(repository: string, owned: OwnedTables[]): Record<string, string[]> {
  const found = sourceFiles(repository)
    .filter((file) => /^(services|packages)\/[^/]+\/src\//.test(file) && !isTestFile(file))
    .map((file) => [file, foreignTablesIn(readFileSync(join(repository, file), 'utf8'), packageOf(file), owned)]);
  return Object.fromEntries(found.filter(([, tables]) => tables!.length > 0));
}

/** Returns the tables that a text of `owner` has statements on, though others own them. */
export function foreignTablesIn(text: string, owner: string, owned: OwnedTables[]): string[] {
  const foreign = owned.filter(({ owners }) => !owners.includes(owner)).flatMap(({ tables }) => tables);
  const named = new Set([...text.matchAll(TABLES)].map(([, table]) => table));
  return foreign.filter((table) => named.has(table)).sort();
}
