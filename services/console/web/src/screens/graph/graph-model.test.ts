import { expect, it } from 'vitest';
import { modelOf, outlineOf } from './graph-model.ts';

const DRAWING = {
  nodes: ['__start__', 'desk:__start__', 'desk:model', 'desk:inner:tools', '__end__'].map((id) => ({ id })),
  edges: [
    { source: '__start__', target: 'desk:__start__' },
    { source: 'desk:model', target: 'desk:inner:tools', conditional: true, data: 'calls tools' },
    { source: 'desk:model', target: '__end__', conditional: true },
  ],
};

it('nodes of subgraphs stand in them, and these in each other', () => {
  const { nodes, groups } = modelOf(DRAWING);
  expect(groups).toEqual([
    { id: 'desk', name: 'desk', group: undefined },
    { id: 'desk:inner', name: 'inner', group: 'desk' },
  ]);
  expect(nodes.map(({ name, kind, group }) => [name, kind, group])).toEqual([
    ['Start', 'start', undefined],
    ['Start', 'start', 'desk'],
    ['model', 'node', 'desk'],
    ['tools', 'node', 'desk:inner'],
    ['End', 'end', undefined],
  ]);
});

it('the words of a graph name each node by its place, with all that it leads to', () => {
  const lines = outlineOf(modelOf(DRAWING));
  expect(lines.find(({ id }) => id === 'desk:model')).toEqual({
    id: 'desk:model',
    name: 'desk › model',
    leadsTo: [
      { id: 'desk:inner:tools', name: 'desk › inner › tools', condition: 'calls tools', isConditional: true },
      { id: '__end__', name: 'End', condition: undefined, isConditional: true },
    ],
  });
});

it('a condition that only repeats the name of its target is no label', () => {
  const { edges } = modelOf({
    nodes: [{ id: 'a' }, { id: 'sub:b' }],
    edges: [
      { source: 'a', target: 'sub:b', data: 'b', conditional: true },
      { source: 'a', target: 'sub:b', data: 'else', conditional: true },
    ],
  });
  expect(edges.map(({ label }) => label)).toEqual([undefined, 'else']);
});
