import { expect, test } from 'vitest';
import { EMPTY_ITEM, faultsOfItem, fieldOfSentence, putRequestOf } from './item-request.ts';

const draft = { ...EMPTY_ITEM, namespace: 'users. ada', key: ' k ', value: { a: 1 } };

test('an item is written as it is named, with what the project says of its time and its meaning', () => {
  expect(putRequestOf(draft)).toEqual({ namespace: ['users', ' ada'], key: ' k ', value: { a: 1 } });
});

test('an item may have a time of its own, and texts of its own that are embedded', () => {
  expect(putRequestOf({ ...draft, ttl: '-1', embedding: 'nothing' })).toMatchObject({ ttl: -1, index: false });
  expect(putRequestOf({ ...draft, embedding: 'paths', paths: 'title, {a,b}, parts[*].text,' })).toMatchObject({
    index: ['title', '{a,b}', 'parts[*].text'],
  });
});

test('what the form can know to be wrong is said at its field', () => {
  const wrong = { ...EMPTY_ITEM, value: [1], ttl: 'soon', embedding: 'paths' as const };
  expect([...faultsOfItem(wrong).keys()]).toEqual(['namespace', 'value', 'ttl', 'paths']);
  expect(faultsOfItem(draft).size).toBe(0);
});

test('a refusal of the platform stands at the field that it is about', () => {
  expect(fieldOfSentence('Root label for namespace cannot be "langgraph".')).toBe('namespace');
  expect(fieldOfSentence('value must be an object')).toBe('value');
  expect(fieldOfSentence('ttl must be greater than 0')).toBe('ttl');
  expect(fieldOfSentence('index must be false')).toBe('embedding');
  expect(fieldOfSentence('The embeddings of the project failed')).toBeUndefined();
});
