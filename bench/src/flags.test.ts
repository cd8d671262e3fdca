import { expect, it } from 'vitest';
import { readFlags } from './flags.ts';

it('a comparison with a commit takes five rounds of short turns, unless told otherwise', () => {
  expect(readFlags(['against', 'main'])).toMatchObject({ against: 'main', rounds: 5, seconds: 3, clients: [1, 32] });
  expect(readFlags(['against', 'main', '--rounds', '2'])).toMatchObject({ rounds: 2, isDirectWanted: false });
  expect(readFlags([])).toMatchObject({ against: undefined, rounds: 1, isDirectWanted: true });
});

it('a comparison without a commit is refused', () => {
  for (const args of [['against'], ['against', '--rounds', '2']])
    expect(() => readFlags(args)).toThrow('Name the commit to measure against');
});
