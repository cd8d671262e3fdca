import * as contracts from '@runyard/contracts';
import { expect, it } from 'vitest';
import { createDisabledFilter } from './disabled-groups.ts';

const operations = contracts.AGENT_SERVER_OPERATIONS;
const left = (http: Parameters<typeof createDisabledFilter>[0]) =>
  operations.filter((operation) => !createDisabledFilter(http)(operation));

it('a project without disable keys has every operation on', () => {
  expect(left(null)).toHaveLength(operations.length);
  expect(left({ disable_runs: false })).toHaveLength(operations.length);
});

it.each([
  ['assistants', '/assistants/search', '/threads/search'],
  ['threads', '/threads/{thread_id}/state', '/threads/{thread_id}/runs'],
  ['runs', '/threads/{thread_id}/runs', '/threads/{thread_id}/state'],
  ['store', '/store/items', '/threads'],
  ['mcp', '/mcp', '/runs/wait'],
  ['meta', '/info', '/ok'],
  ['agui', '/agui/{assistant_id}', '/a2a/{assistant_id}'],
  ['ui', '/ui/{agent}', '/info'],
] as const)('disable_%s switches its group off, and nothing else', (group, gone, stays) => {
  const paths = new Set([...left({ [`disable_${group}`]: true }).map(({ path }) => path), '/ok']);
  expect(paths).not.toContain(gone);
  expect(paths).toContain(stays);
});

it('every operation has a known group', () => {
  const groups = ['assistants', 'threads', 'runs', 'store', 'mcp', 'a2a', 'agui', 'meta', 'ui'];
  const all = Object.fromEntries(groups.map((group) => [`disable_${group}`, true]));
  expect(left(all).map(({ path }) => path)).toEqual(['/ok']);
});
