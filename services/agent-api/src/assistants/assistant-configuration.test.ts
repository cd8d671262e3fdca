import { expect, it } from 'vitest';
import { configurationOf, mergeConfiguration } from './assistant-configuration.ts';

const before = { config: { tags: ['t'], configurable: { tone: 'old' } }, context: { tone: 'old' } };

it('an assistant keeps configurable and context alike, whichever is given', () => {
  expect(configurationOf({})).toEqual({ config: {}, context: {} });
  expect(configurationOf({ config: { configurable: { a: 1 } } })).toEqual({
    config: { configurable: { a: 1 } },
    context: { a: 1 },
  });
  expect(configurationOf({ config: { tags: ['t'] }, context: { a: 1 } })).toEqual({
    config: { tags: ['t'], configurable: { a: 1 } },
    context: { a: 1 },
  });
});

it('an assistant refuses both at once, and an empty one counts as missing', () => {
  expect(() => configurationOf({ config: { configurable: { a: 1 } }, context: { b: 1 } })).toThrow(
    /Cannot specify both/,
  );
  expect(configurationOf({ config: { configurable: {} }, context: { b: 1 } }).config).toEqual({
    configurable: { b: 1 },
  });
  expect(configurationOf({ config: { configurable: { a: 1 } }, context: {} }).context).toEqual({ a: 1 });
});

it('a change of an assistant replaces each given part as a whole and leaves the rest', () => {
  expect(mergeConfiguration(before, {})).toEqual(before);
  expect(mergeConfiguration(before, { config: { recursion_limit: 3 } })).toEqual({
    config: { recursion_limit: 3 },
    context: { tone: 'old' },
  });
  expect(mergeConfiguration(before, { context: { tone: 'new' } })).toEqual({
    config: { tags: ['t'], configurable: { tone: 'new' } },
    context: { tone: 'new' },
  });
  expect(mergeConfiguration(before, { context: {} })).toEqual({ config: { tags: ['t'] }, context: {} });
});
