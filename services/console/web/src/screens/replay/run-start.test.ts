import type { Run } from '@runyard/contracts';
import { expect, test } from 'vitest';
import type { RunCheckpoint } from '../../platform/replay.ts';
import { ownCheckpoints, startOf, startWithoutCheckpoints } from './run-start.ts';

const checkpoint = (id: string, parent: string | null, source: string, step = 0, createdAt = '2026-12-01T00:00:00Z') =>
  ({
    checkpoint_id: id,
    parent_checkpoint_id: parent,
    metadata: { source, step },
    created_at: createdAt,
    next: [],
  }) as unknown as RunCheckpoint;
const run = (kwargs: object = {}) =>
  ({ run_id: 'r', updated_at: '2026-12-01T10:00:00Z', kwargs: { durability: 'async', ...kwargs } }) as unknown as Run;

test('a run began from the parent of its first checkpoint', () => {
  const own = ownCheckpoints([
    checkpoint('4', '3', 'loop', 4),
    checkpoint('3', '2', 'loop', 3),
    checkpoint('2', '1', 'input', 2),
  ]);
  expect(startOf(run(), own)).toEqual({ type: 'checkpoint', id: '1' });
});

test('the first run of a thread began with nothing', () => {
  expect(startOf(run(), [checkpoint('2', '1', 'loop', 0), checkpoint('1', null, 'input', -1)])).toEqual({
    type: 'empty',
  });
});

test('a run whose first checkpoints were deleted did not begin with nothing', () => {
  expect(startOf(run(), [checkpoint('4', null, 'loop', 4)])).toEqual({ type: 'lost' });
  expect(startOf(run(), [checkpoint('2', null, 'input', 2)])).toEqual({ type: 'lost' });
});

test('a run that kept its end only does not tell whether it began with nothing', () => {
  const exit = run({ durability: 'exit' });
  expect(startOf(exit, [checkpoint('2', null, 'loop', 1)])).toEqual({ type: 'unclear' });
  expect(startOf(exit, [checkpoint('3', '2', 'loop', 4)])).toEqual({ type: 'checkpoint', id: '2' });
});

test('what people wrote into the state of a run later is not of the run', () => {
  const own = ownCheckpoints([
    checkpoint('5', '2', 'update', 3),
    checkpoint('4', '3', 'fork', 5),
    checkpoint('3', '2', 'loop', 3),
    checkpoint('2', '1', 'input', 2),
  ]);
  expect(own.map(({ checkpoint_id: id }) => id)).toEqual(['3', '2']);
});

test('a run without a checkpoint began from the newest one before its end', () => {
  const history = [
    checkpoint('3', '2', 'input', 3, '2026-12-01T11:00:00Z'),
    checkpoint('2', '1', 'loop', 2, '2026-12-01T09:00:00Z'),
    checkpoint('1', null, 'input', -1, '2026-12-01T08:00:00Z'),
  ];
  expect(startWithoutCheckpoints(run(), history)).toEqual({ type: 'checkpoint', id: '2' });
  expect(startWithoutCheckpoints(run(), [])).toEqual({ type: 'empty' });
  const named = run({ config: { configurable: { checkpoint_id: '1' } } });
  expect(startWithoutCheckpoints(named, history)).toEqual({ type: 'checkpoint', id: '1' });
});

test('of a run without a checkpoint, on a thread without older ones, it counts whether some were deleted', () => {
  const later = '2026-12-01T11:00:00Z';
  expect(startWithoutCheckpoints(run(), [checkpoint('3', null, 'loop', 3, later)])).toEqual({ type: 'lost' });
  expect(startWithoutCheckpoints(run(), [checkpoint('3', null, 'input', -1, later)])).toEqual({ type: 'empty' });
});
