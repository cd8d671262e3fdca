import { describe, expect, it } from 'vitest';
import { differingChannels, overwriting, stateUpdate } from './state-update.ts';

describe('the update that makes an edited state', () => {
  it('writes only the channels that were changed', () => {
    const before = { request: 'tea', log: ['a'], kept: { deep: [1] } };
    const after = { request: 'coffee', log: ['a'], kept: { deep: [1] }, added: 1 };
    expect(stateUpdate(before, after)).toEqual({ values: { request: 'coffee', added: 1 }, missing: [] });
  });

  it('says which channels were left out, as no update removes one', () => {
    expect(stateUpdate({ a: 1, b: 2 }, { a: 1 })).toEqual({ values: {}, missing: ['b'] });
  });

  it('writes of messages those that were changed, added and removed', () => {
    const message = (id: string, content: string) => ({ type: 'human', id, content });
    const before = { messages: [message('1', 'one'), message('2', 'two'), message('3', 'three')] };
    const added = { type: 'ai', content: 'new' };
    const after = { messages: [message('1', 'one'), message('2', 'another'), added] };
    expect(stateUpdate(before, after).values).toEqual({
      messages: [{ type: 'remove', id: '3', content: '' }, message('2', 'another'), added],
    });
  });

  it('writes lists that are no messages whole', () => {
    const before = { list: [{ id: '1', title: 'x' }] };
    expect(stateUpdate(before, { list: [] }).values).toEqual({ list: [] });
  });
});

it('a reducer that made something else of a value is seen, and can be passed by', () => {
  const wanted = { log: ['mine'], request: 'tea' };
  const differing = differingChannels(wanted, { log: ['before', 'mine'], request: 'tea', other: 1 });
  expect(differing).toEqual(['log']);
  expect(overwriting(wanted, differing)).toEqual({ log: { __overwrite__: ['mine'] } });
});
