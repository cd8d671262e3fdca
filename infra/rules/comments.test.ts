import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

/**
 * A comment that begins so is a fragment: its first line follows the opening of a block, or stands on the same line.
 * Between elements of a page a comment is in braces.
 */
const FRAGMENT =
  /^\s*(?:\/\*\*\n\s*\*|\{?\/\*\*?|\/\/) (?:(?:What|Where|Whether|Who|Whose|Whom|Which)\b.*|Of [^,\n]*)$/gm;

function fragmentsIn(text: string): string[] {
  return (text.match(FRAGMENT) ?? []).map((comment) => comment.trim());
}

it('no comment begins with a bare What, Where, Whether, Who or Of', () => {
  const repository = join(import.meta.dirname, '../..');
  const found = sourceFiles(repository).flatMap((file) =>
    fragmentsIn(readFileSync(join(repository, file), 'utf8')).map((comment) => `${file}: ${comment}`),
  );
  expect(found).toEqual([]);
});

it('a comment without a subject is found, and a sentence is not', () => {
  const planted = ['/** What is kept. */', '/**\n * Who asks\n */', '// Of its socket.', '{/* Where it ends. */}'];
  expect(fragmentsIn(planted.join('\n'))).toEqual([
    '/** What is kept. */',
    '/**\n * Who asks',
    '// Of its socket.',
    '{/* Where it ends. */}',
  ]);
  expect(fragmentsIn('/** Encrypts values. */\n// Of two, the first counts.')).toEqual([]);
});
