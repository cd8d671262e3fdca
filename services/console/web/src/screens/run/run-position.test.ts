import { expect, it } from 'vitest';
import { modelOf } from '../graph/graph-model.ts';
import { nodesBeyond } from '../graph/node-status.ts';
import { isSamePosition, positionOf } from './run-position.ts';
import type { Entry } from './timeline.ts';

const task = (id: string, title: string, status: Entry['status'], parent?: string): Entry => ({
  id,
  kind: 'task',
  title,
  parent,
  order: [0, 0],
  status,
  details: {},
});

const of = (entries: Entry[], isRunning: boolean) => {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return positionOf({ rows: entries, get: (id) => byId.get(id) }, isRunning);
};

it('a run stands at its nodes, those of subgraphs too', () => {
  const entries = [
    task('1', 'prepare', 'success'),
    { ...task('x', 'said', undefined), kind: 'message' as const },
    task('2', 'outer', 'running'),
    task('3', 'inner', 'running', '2'),
    task('4', 'drill', 'error', '3'),
  ];
  const position = of(entries, true);
  expect([...position].map(([id, { status }]) => [id, status])).toEqual([
    ['prepare', 'done'],
    ['outer', 'running'],
    ['outer:inner', 'running'],
    ['outer:inner:drill', 'failed'],
  ]);
});

it('of several tasks of a node those that go on or wait count before the last', () => {
  const last = of([task('1', 'step', 'error'), task('2', 'step', 'success')], true);
  expect(last.get('step')).toEqual({ status: 'done', times: 2 });
  const active = of([task('1', 'step', 'waiting'), task('2', 'step', 'running'), task('3', 'step', 'success')], true);
  expect(active.get('step')).toEqual({ status: 'running', times: 3 });
});

it('nothing goes on in a run that has ended', () => {
  const position = of([task('1', 'step', 'running'), task('2', 'ask', 'waiting')], false);
  expect([position.get('step')?.status, position.get('ask')?.status]).toEqual(['unfinished', 'interrupted']);
});

it('nodes that the graph has no more are named', () => {
  const model = modelOf({ nodes: [{ id: 'kept' }, { id: 'group:inner' }], edges: [] });
  const entries = [task('1', 'kept', 'success'), task('2', 'group', 'success'), task('3', 'gone', 'success')];
  expect(nodesBeyond(of([...entries, task('4', 'inside', 'success', '1')], false), model)).toEqual(['gone']);
});

it('a position that is the same makes no new drawing', () => {
  const one = of([task('1', 'step', 'success')], true);
  expect(isSamePosition(one, of([task('9', 'step', 'success')], true))).toBe(true);
  expect(isSamePosition(one, of([task('1', 'step', 'error')], true))).toBe(false);
});
