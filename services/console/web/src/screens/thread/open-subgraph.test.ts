import type { ThreadState, ThreadStateUpdate } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import { openSubgraph, standsAt, type ThreadAccess } from './open-subgraph.ts';

function stateAt(namespace: string, id: string, rest: Partial<ThreadState> = {}): ThreadState {
  return {
    values: {},
    next: [],
    tasks: [],
    metadata: {},
    created_at: null,
    checkpoint: { checkpoint_ns: namespace, checkpoint_id: id },
    parent_checkpoint: null,
    interrupts: [],
    checkpoint_id: id,
    parent_checkpoint_id: null,
    ...rest,
  };
}

const subgraphTask = (name: string, namespace: string, state?: ThreadState) => ({
  id: namespace,
  name,
  interrupts: [],
  checkpoint: state ? null : { checkpoint_ns: namespace },
  state: state ?? null,
  result: null,
});

/** A thread that has run a subgraph, `desk`, whose nodes are `draft` and `expert`. */
function finishedThread() {
  const root = stateAt('', 'root', { next: ['desk'], tasks: [subgraphTask('desk', 'desk:1')] });
  const copy = stateAt('', 'copy', { next: ['desk'], tasks: [subgraphTask('desk', 'desk:2')] });
  const before = stateAt('desk:1', 'before', { next: ['draft'] });
  const drafted = stateAt('desk:1', 'drafted', {
    next: ['expert'],
    values: { log: ['draft'] },
    parent_checkpoint_id: 'before',
    checkpoint: {
      checkpoint_ns: 'desk:1',
      checkpoint_id: 'drafted',
      checkpoint_map: { '': 'root', 'desk:1': 'drafted' },
    },
  });
  const written = stateAt('desk:2', 'written', { next: ['expert'], values: { log: ['draft'] } });
  const states = [root, copy, before, drafted, written];
  const updates: ThreadStateUpdate[] = [];
  const thread: ThreadAccess = {
    readState: async ({ checkpointId, namespace }) =>
      states.find((state) =>
        checkpointId === undefined
          ? state === (namespace === '' ? copy : written)
          : state.checkpoint_id === checkpointId && state.checkpoint?.checkpoint_ns === namespace,
      )!,
    updateState: async (update) => {
      updates.push(update);
      return update.as_node === '__copy__' ? 'copy' : 'written';
    },
    listCheckpoints: async () => [root],
  };
  return { thread, updates, drafted, written };
}

describe('a subgraph is opened anew at one of its checkpoints', () => {
  it('by a copy of the checkpoint before it, with its state written as the node that did', async () => {
    const { thread, updates, drafted } = finishedThread();
    expect(await openSubgraph(thread, drafted)).toEqual({ namespace: 'desk:2', checkpointId: 'written' });
    expect(updates).toEqual([
      { checkpoint: { checkpoint_id: 'root' }, values: null, as_node: '__copy__' },
      { checkpoint: { checkpoint_ns: 'desk:2' }, values: { log: ['draft'] }, as_node: 'draft' },
    ]);
  });

  it('with edited values in the place of its own', async () => {
    const { thread, updates, drafted } = finishedThread();
    await openSubgraph(thread, drafted, { values: { log: ['mine'] }, asNode: 'expert' });
    expect(updates[1]).toMatchObject({ values: { log: ['mine'] }, as_node: 'expert' });
  });

  it('also where its checkpoint does not name those around it', async () => {
    const { thread, updates, drafted } = finishedThread();
    await openSubgraph(thread, { ...drafted, checkpoint: { checkpoint_ns: 'desk:1', checkpoint_id: 'drafted' } });
    expect(updates[0]).toMatchObject({ checkpoint: { checkpoint_id: 'root' } });
  });

  it('and refuses to go on with other nodes than it did there', async () => {
    const { thread, drafted } = finishedThread();
    const parallel = { ...drafted, next: ['expert', 'critic'] };
    await expect(openSubgraph(thread, parallel)).rejects.toThrow(/cannot be written/);
  });

  it('needs nothing written where it starts from its beginning', async () => {
    const { thread, updates, drafted } = finishedThread();
    const first = { ...drafted, next: ['__start__'] };
    expect(await openSubgraph(thread, first)).toEqual({ namespace: 'desk:2', checkpointId: undefined });
    expect(updates).toHaveLength(1);
  });
});

it('a thread stands at the checkpoint of a subgraph that waits there, and at no other', () => {
  const inner = stateAt('desk:1|inner:2', 'inner');
  const desk = stateAt('desk:1', 'desk', { tasks: [subgraphTask('inner', 'desk:1|inner:2', inner)] });
  const newest = stateAt('', 'root', { tasks: [subgraphTask('desk', 'desk:1', desk)] });
  expect(standsAt(newest, inner)).toBe(true);
  expect(standsAt(newest, desk)).toBe(true);
  expect(standsAt(newest, stateAt('desk:1', 'earlier'))).toBe(false);
  expect(standsAt(stateAt('', 'root'), inner)).toBe(false);
});
