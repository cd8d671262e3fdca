import { expect, it } from 'vitest';
import { type Box, curveThrough, layOut } from './graph-layout.ts';
import { modelOf } from './graph-model.ts';

const MODEL = modelOf({
  nodes: ['__start__', 'outer:inner:drill', 'outer:inner:turn', 'outer:check', '__end__'].map((id) => ({ id })),
  edges: [
    { source: '__start__', target: 'outer:inner:drill' },
    { source: 'outer:inner:drill', target: 'outer:inner:turn' },
    { source: 'outer:inner:turn', target: 'outer:check', conditional: true, data: 'enough' },
    { source: 'outer:inner:turn', target: 'outer:check', conditional: true, data: 'too much' },
    { source: 'outer:inner:turn', target: 'outer:inner:turn', conditional: true },
    { source: 'outer:check', target: '__end__' },
    { source: 'outer:check', target: 'nowhere' },
  ],
});

const contains = (outer: Box, inner: Box) =>
  outer.x <= inner.x &&
  outer.y <= inner.y &&
  outer.x + outer.width >= inner.x + inner.width &&
  outer.y + outer.height >= inner.y + inner.height;

it('each node stands within its subgraphs, and after the one that leads to it', () => {
  const { nodes, groups } = layOut(MODEL, 'down');
  const group = new Map(groups.map(({ id, box }) => [id, box]));
  for (const { group: id, box } of [...nodes, ...groups])
    if (id !== undefined) expect(contains(group.get(id)!, box)).toBe(true);
  const tops = nodes.map(({ box }) => box.y);
  expect(tops).toEqual(tops.toSorted((a, b) => a - b));
  const lefts = layOut(MODEL, 'right').nodes.map(({ box }) => box.x);
  expect(lefts).toEqual(lefts.toSorted((a, b) => a - b));
});

it('two edges between the same nodes are two lines with a label each; one to nowhere is none', () => {
  const { edges } = layOut(MODEL, 'down');
  const labelled = edges.filter(({ label }) => label);
  expect(labelled.map(({ label }) => label)).toEqual(['enough', 'too much']);
  expect(labelled[0]!.path).not.toBe(labelled[1]!.path);
  expect(edges).toHaveLength(6);
  expect(edges.every(({ path }) => path.startsWith('M'))).toBe(true);
});

it('a subgraph may have the name of a node', () => {
  const model = modelOf({ nodes: [{ id: 'a' }, { id: 'a:b' }], edges: [{ source: 'a', target: 'a:b' }] });
  expect(layOut(model, 'down').nodes).toHaveLength(2);
});

it('a graph whose subgraphs lead to each other in many ways is drawn, without frames where it has to be', () => {
  const nodes = Array.from({ length: 43 }, (_, index) => ({
    id: index % 5 ? `part${index % 7}:n${index}` : `n${index}`,
  }));
  const edges = nodes.flatMap(({ id: source }, index) =>
    [1, 3].map((step) => ({ source, target: nodes[(index + step) % nodes.length]!.id })),
  );
  const layout = layOut(modelOf({ nodes, edges }), 'down');
  expect(layout.groups).toEqual([]);
  expect(layout.edges).toHaveLength(edges.length);
  expect(layout.nodes.find(({ id }) => id === 'part1:n1')?.name).toBe('part1 › n1');
});

it('a line begins and ends where it should', () => {
  const points = [
    { x: 0, y: 0 },
    { x: 5, y: 10 },
    { x: 9, y: 20 },
  ];
  expect(curveThrough(points)).toBe('M0,0 Q5,10 9,20');
  expect(curveThrough(points.slice(0, 2))).toBe('M0,0 L5,10');
});

it.each(['down', 'right'] as const)('a node that leads to itself has a line beside it (%s)', (direction) => {
  const { nodes, edges } = layOut(MODEL, direction);
  const { box } = nodes.find(({ name }) => name === 'turn')!;
  const [start] = edges.find(({ source, target }) => source === target)!.path.match(/[\d.]+,[\d.]+/)!;
  const [x, y] = start!.split(',').map(Number);
  expect(contains(box, { x: x!, y: y!, width: 0, height: 0 })).toBe(true);
});
