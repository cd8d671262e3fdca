import { expect, test } from 'vitest';
import type { RunCheckpoint } from '../../platform/replay.ts';
import { alignSteps, type RunStep, stepsOf } from './run-steps.ts';

const checkpoint = (second: number, next: string[], source = 'loop') =>
  ({ created_at: `2026-12-01T00:00:0${second}Z`, next, metadata: { source } }) as unknown as RunCheckpoint;
const step = (...nodes: string[]): RunStep => ({ nodes, durationMs: 1, isOpen: false });

test('the steps of a run are the nodes after each of its checkpoints, with the time until the next one', () => {
  const own = [
    checkpoint(5, []),
    checkpoint(3, ['a', 'b']),
    checkpoint(2, ['model']),
    checkpoint(1, ['__start__'], 'input'),
  ];
  expect(stepsOf(own, undefined)).toEqual([
    { nodes: ['model'], durationMs: 1_000, isOpen: false },
    { nodes: ['a', 'b'], durationMs: 2_000, isOpen: false },
  ]);
});

test('a run that went on from a state did first what came next there; one with an input did not', () => {
  const start = checkpoint(0, ['ask']);
  expect(stepsOf([checkpoint(3, []), checkpoint(2, ['act'])], start).map(({ nodes }) => nodes)).toEqual([
    ['ask'],
    ['act'],
  ]);
  const again = [checkpoint(3, []), checkpoint(2, ['model']), checkpoint(1, ['__start__'], 'input')];
  expect(stepsOf(again, start).map(({ nodes }) => nodes)).toEqual([['model']]);
  expect(stepsOf([], start)).toEqual([{ nodes: ['ask'], durationMs: undefined, isOpen: true }]);
});

test('a step that did not end is open', () => {
  expect(stepsOf([checkpoint(2, ['model'])], undefined)).toEqual([
    { nodes: ['model'], durationMs: undefined, isOpen: true },
  ]);
});

test('steps of the same nodes stand beside each other, and a step of one run alone beside nothing', () => {
  const rows = alignSteps(
    [step('model'), step('tools'), step('model')],
    [step('model'), step('check'), step('model'), step('end')],
  );
  expect(rows.map(({ original, shadow }) => [original?.nodes[0], shadow?.nodes[0]])).toEqual([
    ['model', 'model'],
    ['tools', undefined],
    [undefined, 'check'],
    ['model', 'model'],
    [undefined, 'end'],
  ]);
});

test('the order of nodes that ran at once makes no difference', () => {
  expect(alignSteps([step('a', 'b')], [step('b', 'a')])).toHaveLength(1);
});
