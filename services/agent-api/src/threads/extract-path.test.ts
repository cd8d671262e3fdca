import { expect, it } from 'vitest';
import { extractPath } from './extract-path.ts';

const thread = { values: { messages: [{ content: 'a' }, { content: 'b' }] }, metadata: { owner: 'ada' } };

it('a path follows keys and indexes, negative ones from the end', () => {
  expect(extractPath(thread, 'values.messages[-1].content')).toBe('b');
  expect(extractPath(thread, 'values.messages[0].content')).toBe('a');
  expect(extractPath(thread, 'metadata.owner')).toBe('ada');
});

it('a path takes every element for [*]', () =>
  expect(extractPath(thread, 'values.messages[*].content')).toEqual(['a', 'b']));

it('a path is null where nothing is there, also for inherited keys', () => {
  expect(extractPath(thread, 'values.messages[9].content')).toBeNull();
  expect(extractPath(thread, 'values.constructor')).toBeNull();
  expect(extractPath({ values: null }, 'values.messages')).toBeNull();
});
