import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findSlowText } from './expression-time.ts';
import { type Expression, expressionsIn } from './source-expressions.ts';
import { sourceFiles } from './source-files.ts';
import { isTestFile } from './source-imports.ts';

const repository = join(import.meta.dirname, '../..');
/** Expressions of contracts are compiled with this flag. */
const PATTERN = /\bpattern: '((?:[^'\\\n]|\\.)*)'/g;

/** Returns each expression of the product once, with a file that has it. */
function readExpressions(): (Expression & { file: string })[] {
  const found = new Map<string, Expression & { file: string }>();
  for (const file of sourceFiles(repository)) {
    if (isTestFile(file) || !/^(services|packages)\//.test(file)) continue;
    const text = readFileSync(join(repository, file), 'utf8');
    const patterns = Array.from(text.matchAll(PATTERN), ([, source]) => ({
      source: source!.replaceAll('\\\\', '\\'),
      flags: 'u',
    }));
    for (const each of [...expressionsIn(text, file), ...patterns]) {
      found.set(`/${each.source}/${each.flags}`, { ...each, file });
    }
  }
  return [...found.values()];
}

it('no regular expression takes more time than in proportion to its text', () => {
  const expressions = readExpressions();
  expect(expressions.length, 'they are found').toBeGreaterThan(200);
  const slow = expressions.flatMap(({ source, flags, file }) => {
    const text = findSlowText(source, flags);
    return text === null ? [] : [`${file}: /${source}/${flags} on ${JSON.stringify(text)}`];
  });
  expect(slow).toEqual([]);
});

it.each([
  ['a run of characters before the end', String.raw`\/+$`],
  ['repetitions of what leads to a quantifier', String.raw`<(?:[\w-]+:)?Issuer\b[^>]*>\s*([^<\s]{1,2000})\s*<`],
  ['two quantifiers that take the same characters', String.raw`^[^@]+@[^@]+\.[^@]+$`],
  ['a quantifier inside of another', '^(a+)+$'],
])('an expression is found that is slow on %s', (_, source) => {
  expect(findSlowText(source, '')).not.toBeNull();
});

it('an expression that decides at each character is not slow', () => {
  expect(findSlowText(String.raw`(?<!\/)\/+$`, '')).toBeNull();
  expect(findSlowText('^[a-z0-9]+(?:-[a-z0-9]+)*$', '')).toBeNull();
});
