import type { Deployment } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { findDeployments, refetchMs } from './deployment-list.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const deployment = (change: Partial<Deployment>) =>
  ({
    name: 'agent',
    display_name: null,
    status: 'READY',
    latest_revision_id: 'one',
    active_revision_id: 'one',
    updated_at: '2026-11-20T11:59:00Z',
    ...change,
  }) as Deployment;

test('deployments are sorted by the name that people gave them, and found by both names', () => {
  const named = deployment({ name: 'zebra', display_name: 'Accounts' });
  const all = [deployment({ name: 'beta' }), named];
  expect(findDeployments(all, '').map(({ name }) => name)).toEqual(['zebra', 'beta']);
  expect(findDeployments(all, 'ZEB')).toEqual([named]);
  expect(findDeployments(all, 'acc')).toEqual([named]);
});

test('deployments are asked for often while one has a fresh roll-out, and seldom otherwise', () => {
  expect(refetchMs([deployment({})], NOW)).toBe(30_000);
  expect(refetchMs([deployment({ latest_revision_id: 'two' })], NOW)).toBe(5_000);
  expect(refetchMs([deployment({ status: 'AWAITING_DATABASE' })], NOW)).toBe(5_000);
});

test('a roll-out that failed long ago, and a deployment that nothing was brought to, are not on their way', () => {
  const old = deployment({ latest_revision_id: 'two', updated_at: '2026-11-19T12:00:00Z' });
  expect(refetchMs([old, deployment({ status: 'UNUSED' })], NOW)).toBe(30_000);
});
