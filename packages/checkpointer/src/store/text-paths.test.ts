import { expect, it } from 'vitest';
import { parseTextPath, textsAt } from './text-paths.ts';

const book = {
  title: 'Ada',
  year: 1843,
  empty: ' ',
  none: null,
  author: { name: 'L. M.', aliases: ['x', 'y'] },
  chapters: [{ content: 'one', notes: ['n1', 'n2'] }, { content: 'two' }, { heading: 'three' }],
};

it.each([
  ['title', ['Ada']],
  ['$.title', ['Ada']],
  ['year', ['1843']],
  ['author.name', ['L. M.']],
  ['author.aliases[*]', ['x', 'y']],
  ['author.aliases[0]', ['x']],
  ['author.aliases[-1]', ['y']],
  ['author.aliases[7]', []],
  ['chapters[*].content', ['one', 'two']],
  ['chapters[*].notes[*]', ['n1', 'n2']],
  ['chapters.*.content', ['one', 'two']],
  ['author.*', ['L. M.', JSON.stringify(['x', 'y'], null, 2)]],
  ['{title,author.name}', ['Ada', 'L. M.']],
  ['chapters[0].{content,notes[1]}', ['one', 'n2']],
  ['title.inner', []],
  ['title[0]', []],
  ['absent', []],
  ['empty', []],
  ['none', []],
  ['constructor', []],
])('the path %s returns %j', (path, texts) => {
  expect(textsAt(book, parseTextPath(path))).toEqual(texts);
});

it('the path $ returns the whole value as JSON', () => {
  expect(textsAt({ a: 1 }, parseTextPath('$'))).toEqual([JSON.stringify({ a: 1 }, null, 2)]);
});

it.each(['', 'a[', 'a[x]', 'a.{b', 'a..b', '.a', 'a.', '{}', '{a,}'])('%j is an invalid path', (path) => {
  expect(() => parseTextPath(path)).toThrow('is not a path');
});
