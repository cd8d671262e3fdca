import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ERROR_CATALOGUE, ERRORS_BY_TOPIC } from '../../packages/contracts/src/errors/catalogue.ts';
import { sourceFiles } from './source-files.ts';

const codes = Object.keys(ERROR_CATALOGUE);

function unusedOf(names: string[], texts: string[]): string[] {
  return names.filter((name) => !texts.some((text) => text.includes(`'${name}'`) || text.includes(`${name}: '`)));
}

it('every error code of the catalogue is used, and only in one topic', () => {
  const repository = join(import.meta.dirname, '../..');
  const texts = sourceFiles(repository)
    .filter((file) => /^(packages|services)\/[^/]+\/src\//.test(file))
    .filter((file) => !file.endsWith('.test.ts') && !file.startsWith('packages/contracts/src/errors/'))
    .map((file) => readFileSync(join(repository, file), 'utf8'));
  expect(unusedOf(codes, texts)).toEqual([]);
  expect(Object.values(ERRORS_BY_TOPIC).flatMap((errors) => Object.keys(errors))).toHaveLength(codes.length);
});

it('an error code that nothing throws is found', () => {
  expect(unusedOf(['thread_busy', 'nobody_throws_this'], ["{ code: 'thread_busy' }"])).toEqual(['nobody_throws_this']);
});
