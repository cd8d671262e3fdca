import type { Run } from '@runyard/contracts';
import { expect, test } from 'vitest';
import type { RunCheckpoint } from '../../platform/replay.ts';
import { canMove } from './start-shadow.ts';

const run = (kwargs: object) => ({ kwargs: { input: null, command: null, ...kwargs } }) as unknown as Run;
const checkpoint = (next: string[]) => ({ checkpoint_id: 'c', next }) as RunCheckpoint;
const start = { type: 'checkpoint', id: 'c' } as const;

test('a run with an input can be moved to another deployment, from nothing or from the end of a graph', () => {
  const withInput = run({ input: { text: 'hi' } });
  expect(canMove({ run: withInput, start: { type: 'empty' }, checkpoint: null })).toBe(true);
  expect(canMove({ run: withInput, start, checkpoint: checkpoint([]) })).toBe(true);
});

test('a run that went on in the middle of a graph cannot', () => {
  expect(canMove({ run: run({ input: { text: 'hi' } }), start, checkpoint: checkpoint(['ask']) })).toBe(false);
  expect(canMove({ run: run({ command: { resume: 'yes' } }), start, checkpoint: checkpoint(['ask']) })).toBe(false);
  expect(canMove({ run: run({}), start, checkpoint: checkpoint([]) })).toBe(false);
});
