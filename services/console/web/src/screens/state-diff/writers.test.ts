import { expect, it } from 'vitest';
import type { ListedCheckpoint } from '../../platform/threads.ts';
import { writersBetween } from './writers.ts';

const checkpoint = (id: string, parent: string | null, tasks: [string, unknown][] = []) =>
  ({
    checkpoint_id: id,
    parent_checkpoint_id: parent,
    tasks: tasks.map(([name, result]) => ({ name, result })),
  }) as unknown as ListedCheckpoint;

const HISTORY = [
  checkpoint('4', '3'),
  checkpoint('3', '2', [['act', { log: ['did'] }]]),
  checkpoint('fork', '2'),
  checkpoint('2', '1', [
    ['ask', { decision: 'yes', log: ['heard'] }],
    ['watch', null],
  ]),
  checkpoint('1', null, [['prepare', { log: ['prepared'] }]]),
];

it('a key is written by the nodes of the steps between two checkpoints of a branch', () => {
  expect([...writersBetween(HISTORY, { from: '2', to: '4' })!]).toEqual([
    ['decision', ['ask']],
    ['log', ['ask', 'act']],
  ]);
  expect([...writersBetween(HISTORY, { from: '1', to: 'fork' })!]).toEqual([
    ['log', ['prepare', 'ask']],
    ['decision', ['ask']],
  ]);
});

it('what a checkpoint itself says of its writers counts first', () => {
  const [later, earlier] = [checkpoint('2', '1'), checkpoint('1', null, [['ask', null]])];
  const history = [{ ...later, metadata: { writes: { ask: { decision: 'yes' } } } } as ListedCheckpoint, earlier];
  expect([...writersBetween(history, { from: '1', to: '2' })!]).toEqual([['decision', ['ask']]]);
});

it('nobody is named where one checkpoint does not come from the other', () => {
  expect(writersBetween(HISTORY, { from: '3', to: 'fork' })).toBeNull();
  expect(writersBetween(HISTORY, { from: '4', to: '2' })).toBeNull();
  expect(writersBetween(HISTORY, { from: '2', to: 'unknown' })).toBeNull();
});
