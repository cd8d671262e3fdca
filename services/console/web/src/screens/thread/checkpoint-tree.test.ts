import { describe, expect, it } from 'vitest';
import type { ListedCheckpoint } from '../../platform/threads.ts';
import { checkpointTree, describeCheckpoint } from './checkpoint-tree.ts';

function checkpoint(id: string, parent: string | null, metadata: Record<string, unknown> = {}): ListedCheckpoint {
  return {
    checkpoint_id: id,
    parent_checkpoint_id: parent,
    metadata,
    created_at: null,
    next: [],
    tasks: [],
    interrupts: [],
  };
}

describe('the tree of checkpoints', () => {
  it('shows a history without forks in one lane', () => {
    const rows = checkpointTree([checkpoint('c', 'b'), checkpoint('b', 'a'), checkpoint('a', null)]);
    expect(rows.map(({ id, lane, isTip, forks }) => [id, lane, isTip, forks])).toEqual([
      ['c', 0, true, 0],
      ['b', 0, false, 0],
      ['a', 0, false, 0],
    ]);
  });

  it('gives each fork a lane, which ends where it began', () => {
    const rows = checkpointTree([
      checkpoint('d2', 'b'),
      checkpoint('d1', 'c1'),
      checkpoint('c1', 'b'),
      checkpoint('b', 'a'),
      checkpoint('a', null),
    ]);
    expect(rows.map(({ id, lanes }) => [id, ...lanes])).toEqual([
      ['d2', 'self'],
      ['d1', 'passes', 'self'],
      ['c1', 'passes', 'self'],
      ['b', 'self', 'joins'],
      ['a', 'self'],
    ]);
    expect(rows.find(({ id }) => id === 'b')).toMatchObject({ forks: 2, isTip: false });
  });

  it('uses a lane again when its branch has ended', () => {
    const rows = checkpointTree([
      checkpoint('e', 'a'),
      checkpoint('d', 'b'),
      checkpoint('c', 'b'),
      checkpoint('b', 'a'),
      checkpoint('f', 'a'),
      checkpoint('a', null),
    ]);
    expect(rows.map(({ id, lane }) => [id, lane])).toEqual([
      ['e', 0],
      ['d', 1],
      ['c', 2],
      ['b', 1],
      ['f', 2],
      ['a', 0],
    ]);
    expect(rows.at(-1)?.forks).toBe(3);
  });

  it('shows two roots, and a history whose older part is not there yet', () => {
    const rows = checkpointTree([checkpoint('d', 'c'), checkpoint('b', null), checkpoint('a', null)]);
    expect(rows.map(({ id, lane }) => [id, lane])).toEqual([
      ['d', 0],
      ['b', 1],
      ['a', 1],
    ]);
  });

  it('says which node wrote a checkpoint', () => {
    expect(describeCheckpoint({ metadata: { source: 'input', writes: { __start__: {} } } })).toBe('Input');
    expect(describeCheckpoint({ metadata: { source: 'loop', writes: {} } })).toBe('Start');
    expect(describeCheckpoint({ metadata: { source: 'loop', writes: { act: 1, ask: 2 } } })).toBe('act, ask');
    expect(describeCheckpoint({ metadata: { source: 'update', writes: { act: 1 } } })).toBe('Update as act');
    expect(describeCheckpoint({ metadata: null })).toBe('Start');
  });
});
