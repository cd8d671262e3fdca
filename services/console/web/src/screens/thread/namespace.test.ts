import { describe, expect, it } from 'vitest';
import { kindOf, memoryNamespace, namespacesTo, nodeOf, nodesWithin, subgraphsAfter } from './namespace.ts';

describe('a namespace of checkpoints', () => {
  it('leads from the root graph through each graph around it', () => {
    expect(namespacesTo('')).toEqual(['']);
    expect(namespacesTo('outer:1|inner:2')).toEqual(['', 'outer:1', 'outer:1|inner:2']);
    expect(nodeOf('outer:1|inner:2')).toBe('inner');
  });

  it('says if LangGraph starts a run at its checkpoints', () => {
    expect(['', 'desk', 'desk:1', 'desk:1|inner'].map(kindOf)).toEqual(['root', 'memory', 'step', 'step']);
  });

  it('has one name for a subgraph with memory, however often that runs', () => {
    expect(memoryNamespace('desk:1')).toBe('desk');
    expect(memoryNamespace('outer|desk:1')).toBe('outer|desk');
  });
});

it('the subgraphs after a checkpoint are its tasks with checkpoints of their own', () => {
  const task = { id: '1', interrupts: [] };
  const tasks = [
    { ...task, name: 'plain', checkpoint: null, result: {} },
    { ...task, name: 'desk', checkpoint: { checkpoint_ns: 'desk:1' }, result: { text: 'x' } },
    { ...task, name: 'waits', checkpoint: { checkpoint_ns: 'waits:2' }, result: null },
  ];
  expect(subgraphsAfter({ tasks })).toEqual([
    { name: 'desk', namespace: 'desk:1', hasRun: true },
    { name: 'waits', namespace: 'waits:2', hasRun: false },
  ]);
});

it('the nodes of a subgraph are those below its own node', () => {
  const ids = ['__start__', 'outer:inner:drill', 'outer:inner:turn', 'outer:check', '__end__'];
  expect(nodesWithin(ids, '')).toEqual(['outer']);
  expect(nodesWithin(ids, 'outer:1')).toEqual(['inner', 'check']);
  expect(nodesWithin(ids, 'outer:1|inner:2')).toEqual(['drill', 'turn']);
});
