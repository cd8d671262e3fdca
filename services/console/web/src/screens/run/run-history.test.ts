import { expect, test } from 'vitest';
import { RunHistory, STATES_PAGE, type StatesOfRun } from './run-history.ts';
import { Timeline } from './timeline.ts';
import type { HistoryState } from './timeline-history.ts';

/** Ids sort as their numbers do. */
const idOf = (step: number) => `cp-${String(step).padStart(5, '0')}`;

interface FakeState {
  step: number;
  namespace?: string;
  source?: string;
  inner?: string;
}

const state = ({ step, namespace = '', source = 'loop', inner }: FakeState): HistoryState =>
  ({
    checkpoint: { checkpoint_id: idOf(step), checkpoint_ns: namespace },
    parent_checkpoint: { checkpoint_id: idOf(step - 1) },
    created_at: new Date(step * 1_000).toISOString(),
    metadata: { source, step },
    tasks: [
      {
        id: `t${namespace}${step}`,
        name: 'node',
        error: null,
        interrupts: [],
        checkpoint: inner ? { checkpoint_ns: inner } : null,
        result: {},
      },
    ],
  }) as unknown as HistoryState;

class FakeStates implements StatesOfRun {
  readonly asked: string[] = [];
  /** Newest first. */
  readonly byGraph = new Map<string, HistoryState[]>();

  async listStates(namespace: string, before: string | undefined): Promise<HistoryState[]> {
    this.asked.push(`${namespace} before ${before ?? 'now'}`);
    const all = this.byGraph.get(namespace) ?? [];
    const from = before === undefined ? 0 : all.findIndex(({ checkpoint }) => checkpoint?.checkpoint_id === before) + 1;
    return all.slice(from, from + STATES_PAGE);
  }

  async getState(namespace: string, checkpointId: string): Promise<HistoryState> {
    this.asked.push(`${namespace} at ${checkpointId}`);
    return state({ step: Number(checkpointId.slice(3)), namespace });
  }
}

const countDown = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) =>
    state({ step: from - index, source: from - index === 0 ? 'input' : 'loop' }),
  );

test('a long history is read page by page, and then only what is new', async () => {
  const states = new FakeStates();
  states.byGraph.set('', countDown(249, 0));
  const timeline = new Timeline();
  const history = new RunHistory(timeline, states, () => {});
  await history.read();
  expect(states.asked).toEqual([' before now', ` before ${idOf(150)}`, ` before ${idOf(50)}`]);
  expect(timeline.size).toBe(500);
  expect(history.firstCheckpoint).toBe(idOf(0));
  states.asked.length = 0;
  states.byGraph.set('', countDown(251, 0));
  await history.read();
  expect(states.asked).toEqual([' before now']);
  expect(timeline.size).toBe(504);
});

test('graphs inside are read too, however deep they are', async () => {
  const states = new FakeStates();
  states.byGraph.set('', [state({ step: 1, source: 'input', inner: 'a:1' })]);
  states.byGraph.set('a:1', [state({ step: 2, namespace: 'a:1', source: 'input', inner: 'a:1|b:2' })]);
  states.byGraph.set('a:1|b:2', [state({ step: 3, namespace: 'a:1|b:2', source: 'input' })]);
  const timeline = new Timeline();
  await new RunHistory(timeline, states, () => {}).read();
  expect(timeline.get(`checkpoint:a:1|b:2|${idOf(3)}`)?.parent).toBe('task:2');
});

test('a run that went on from another’s state shows the nodes that it ran from there', async () => {
  const states = new FakeStates();
  states.byGraph.set('', [state({ step: 5 })]);
  const timeline = new Timeline();
  const history = new RunHistory(timeline, states, () => {});
  await history.read();
  expect(states.asked).toEqual([' before now', ` at ${idOf(4)}`]);
  expect(timeline.get('task:t4')).toBeDefined();
  expect(history.checkpointBefore).toBe(idOf(4));
});

test('whoever asks while it is read gets what came meanwhile', async () => {
  const states = new FakeStates();
  const timeline = new Timeline();
  const history = new RunHistory(timeline, states, () => {});
  const first = history.read();
  states.byGraph.set('', [state({ step: 0, source: 'input' })]);
  await Promise.all([first, history.read()]);
  expect(timeline.size).toBe(2);
});
