import { expect, it } from 'vitest';
import { describeRunFailure } from './describe-failure.ts';

it('a run that fails is described whatever was thrown, so that it is settled', () => {
  const unprintable = Object.create(null) as object;
  const throwing = {
    toString: () => {
      throw new Error('no');
    },
  };
  for (const thrown of [unprintable, throwing, new Error('a', { cause: unprintable })])
    expect(describeRunFailure(thrown, '/project')).toBe('The run failed with something that cannot be shown.');
  for (const thrown of [undefined, null, 'text', 7n, Symbol('s')])
    expect(describeRunFailure(thrown, '/project')).toBe(`The run failed: ${String(thrown)}`);
});

it('a message as long as a document is cut, and the places are not', () => {
  const text = describeRunFailure(new Error('x'.repeat(1_000_000)), '/project');
  expect(text.length).toBeLessThan(20_000);
  expect(text).toMatch(/x…\n {4}at /);
});
