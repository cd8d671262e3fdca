import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffJson } from './json-diff.ts';

const told = (before: unknown, after: unknown) =>
  diffJson(before, after).map(({ path, kind }) => `${kind} ${path.join('.')}`);

describe('the differences of two states', () => {
  it('are those of keys, however deep', () => {
    expect(told({ a: 1, b: { c: 2, d: 3 }, e: 4 }, { a: 1, b: { c: 5, f: 6 }, g: null })).toEqual([
      'changed b.c',
      'added b.f',
      'removed b.d',
      'added g',
      'removed e',
    ]);
    expect(told(null, { a: 1 })).toEqual(['changed ']);
  });

  it('follow messages by their ids', () => {
    const [one, two, three] = ['1', '2', '3'].map((id) => ({ id, content: id }));
    expect(told({ messages: [one, two] }, { messages: [two, { ...three, content: 'x' }] })).toEqual([
      'added messages.1',
      'removed messages.0',
    ]);
    expect(told([one], [{ ...one, content: 'new' }])).toEqual(['changed 0.content']);
    expect(told([one, two], [two, one])).not.toEqual([]);
  });

  it('of other lists are told from both ends', () => {
    expect(told(['a', 'b', 'c'], ['a', 'x', 'b', 'c'])).toEqual(['added 1']);
    expect(told(['a', 'b', 'c'], ['c'])).toEqual(['removed 0', 'removed 1']);
    expect(told(['a'], ['a', 'b'])).toEqual(['added 1']);
  });

  it('are none for equal values, and some for others', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => diffJson(value, structuredClone(value)).length === 0));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        return (diffJson(one, other).length === 0) === isDeepStrictEqual(one, other);
      }),
    );
  });

  it('of ten times as much take some ten times as long', () => {
    const stateOf = (count: number, word: string) => ({
      messages: Array.from({ length: count }, (_, index) => ({ id: `${index}`, content: `${word} ${index}` })),
      numbers: Array.from({ length: count }, (_, index) => index),
    });
    const costOf = (count: number) => {
      const [one, other] = [stateOf(count, 'a'), stateOf(count, 'b')];
      const startedAt = process.cpuUsage().user;
      for (let time = 0; time < 5; time++) diffJson(one, other, { max: 10 });
      return process.cpuUsage().user - startedAt;
    };
    costOf(2_000);
    expect(costOf(20_000) / Math.max(costOf(2_000), 1_000)).toBeLessThan(60);
  });
});
