import type { Deployment } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { resourceDraftOf, resourceFaults, resourcePatch } from './resource-changes.ts';

const deployment = {
  source_config: { resource_spec: { min_scale: 1, max_scale: 4, cpu_limit: 2 } },
} as Deployment;

test('a draft that changes nothing sends nothing', () => {
  expect(resourcePatch(deployment, resourceDraftOf(deployment))).toBeUndefined();
});

test('a changed field sends the whole specification, with what the form does not show', () => {
  const draft = { ...resourceDraftOf(deployment), cpu: '0.5', max_scale: '' };
  expect(resourcePatch(deployment, draft)).toEqual({
    source_config: { resource_spec: { min_scale: 1, cpu_limit: 2, cpu: 0.5 } },
  });
});

test('what is no number is refused beside its field', () => {
  const draft = { ...resourceDraftOf(deployment), cpu: 'two', min_scale: '1.5' };
  expect([...resourceFaults(draft).keys()]).toEqual(['min_scale', 'cpu']);
});
