import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

/** Matches the name of a class of errors that does not end as its base class does. */
const UNNAMED = /^(?:export )?(?:abstract )?class (\w+(?<!Error))(?:<[^{]*>)? extends \w*Error\b/gm;
/** Code of users in end-to-end tests, which names its errors as it likes. */
const OF_USERS = 'e2e/projects/';

const unnamedIn = (text: string) => [...text.matchAll(UNNAMED)].map(([, name]) => name);

it('every class of errors has a name that ends in Error', () => {
  const repository = join(import.meta.dirname, '../..');
  const found = sourceFiles(repository)
    .filter((file) => !file.startsWith(OF_USERS))
    .flatMap((file) => unnamedIn(readFileSync(join(repository, file), 'utf8')).map((name) => `${file}: ${name}`));
  expect(found).toEqual([]);
});

it('a class of errors with another name is found', () => {
  expect(unnamedIn('class Refusal extends CliError {}\nexport class BusyError extends Error {}')).toEqual(['Refusal']);
});
