import { expect, test } from 'vitest';
import { diffJson } from '../../components/json-diff.ts';
import { alignIds } from './align-ids.ts';

const state = (human: string, ai: string, call: string, text: string) => ({
  messages: [
    { id: 'old', type: 'human', content: 'before' },
    { id: human, type: 'human', content: 'hi' },
    { id: ai, type: 'ai', content: text, tool_calls: [{ id: call, name: 'weather' }] },
    { id: `${ai}-tool`, type: 'tool', tool_call_id: call },
  ],
});

test('a comparison shows what two runs said differently, and not the ids that each gave', () => {
  const [original, shadow] = [state('h1', 'a1', 'c1', 'Rain'), state('h2', 'a2', 'c2', 'Sun')];
  expect(diffJson(original, alignIds(original, shadow))).toEqual([
    { path: ['messages', 2, 'content'], kind: 'changed', before: 'Rain', after: 'Sun' },
  ]);
});

test('an entry that both states have keeps its id, wherever it stands', () => {
  const original = { list: [{ id: 'a' }, { id: 'b' }] };
  const shadow = { list: [{ id: 'b' }, { id: 'c' }] };
  expect(alignIds(original, shadow)).toEqual(shadow);
});

test('further entries of a shadow keep their ids', () => {
  const shadow = { list: [{ id: 'x' }, { id: 'y' }] };
  expect(alignIds({ list: [{ id: 'a' }] }, shadow)).toEqual({ list: [{ id: 'a' }, { id: 'y' }] });
});
