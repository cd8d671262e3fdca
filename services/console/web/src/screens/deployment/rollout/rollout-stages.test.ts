import { expect, test } from 'vitest';
import { type Rollout, rolloutStages } from './rollout-stages.ts';

const statesOf = (rollout: Partial<Rollout>) =>
  rolloutStages({ status: 'DEPLOYED', source: 'github', isActive: false, ...rollout }).map(({ state }) => state);

test('a revision that is built has only the start behind it', () => {
  expect(statesOf({ status: 'BUILDING' })).toEqual(['done', 'current', 'ahead', 'ahead', 'ahead']);
});

test('a failed build is marked, and nothing after it is reached', () => {
  expect(statesOf({ status: 'BUILD_FAILED' })).toEqual(['done', 'failed', 'unreached', 'unreached', 'unreached']);
});

test('a revision that was never healthy is not shown as switched to', () => {
  expect(statesOf({ status: 'DEPLOY_FAILED' })).toEqual(['done', 'done', 'failed', 'unreached', 'unreached']);
});

test('former processes drain for as long as runs go on with them', () => {
  expect(statesOf({ isActive: true, draining: 2 })).toEqual(['done', 'done', 'done', 'done', 'current']);
  expect(statesOf({ isActive: true, draining: 0 })).toEqual(['done', 'done', 'done', 'done', 'done']);
});

test('a revision that was replaced drains nothing, whatever runs', () => {
  expect(statesOf({ isActive: false, draining: 5 }).at(-1)).toBe('done');
});

test('a folder of the machine has no build', () => {
  expect(statesOf({ status: 'DEPLOYING', source: 'local_directory' })).toEqual([
    'done',
    'none',
    'current',
    'ahead',
    'ahead',
  ]);
});

test('a build that failed is shown also where the deployment has images', () => {
  expect(statesOf({ status: 'BUILD_FAILED', source: 'external_docker' })[1]).toBe('failed');
});

test('a skipped or interrupted revision reached nothing that could be told', () => {
  expect(new Set(statesOf({ status: 'SKIPPED' }))).toEqual(new Set(['unreached']));
  expect(new Set(statesOf({ status: 'INTERRUPTED' }))).toEqual(new Set(['unreached']));
});

test('a revision at a data plane that cannot be reached is still on its way', () => {
  expect(statesOf({ status: 'UNKNOWN' })).toEqual(['done', 'done', 'current', 'ahead', 'ahead']);
});
