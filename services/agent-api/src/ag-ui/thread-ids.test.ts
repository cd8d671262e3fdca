import { randomUUID } from 'node:crypto';
import { isUuid } from '@runyard/contracts';
import { expect, it } from 'vitest';
import { threadIdOf } from './thread-ids.ts';

it('a UUID is the id of a thread, whoever names it', () => {
  const id = randomUUID();
  expect(threadIdOf(id.toUpperCase(), 'ada')).toBe(id);
});

it('another text names a thread of the user alone, always the same', () => {
  const ada = threadIdOf('my chat', 'ada');
  expect(isUuid(ada)).toBe(true);
  expect(threadIdOf('my chat', 'ada')).toBe(ada);
  const others = [threadIdOf('my chat', 'bob'), threadIdOf('my chat', ''), threadIdOf('other', 'ada')];
  // A user whose name looks like a part of what is hashed gets no thread of somebody else.
  const forged = threadIdOf('my chat","x', 'ada"]');
  expect(new Set([ada, ...others, forged]).size).toBe(5);
});
