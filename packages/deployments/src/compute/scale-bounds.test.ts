import type { SourceConfig } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import { firstCount, resourcesOf, scaleBounds } from './scale-bounds.ts';

const boundsOf = (source: SourceConfig) => {
  const resources = resourcesOf(source);
  return [scaleBounds(resources, 'agent-api'), scaleBounds(resources, 'run-worker')];
};

describe('the bounds of a deployment', () => {
  it.each(['prod', 'dedicated'] as const)('of type %s are one and ten by default', (deployment_type) => {
    expect(boundsOf({ deployment_type })).toEqual([
      { min: 1, max: 10 },
      { min: 1, max: 10 },
    ]);
    expect(boundsOf({ deployment_type, resource_spec: { max_scale: 2, queue_max_scale: 3 } })).toEqual([
      { min: 1, max: 2 },
      { min: 1, max: 3 },
    ]);
    expect(boundsOf({ deployment_type, resource_spec: { min_scale: 12 } })[0]).toEqual({ min: 12, max: 12 });
  });

  it.each(['dev', 'dev_free', 'dev_zero', 'dev_free_zero', 'serverless', undefined] as const)(
    'of type %s are one and one, unless the deployment sets them',
    (deployment_type) => {
      expect(boundsOf({ deployment_type })).toEqual([
        { min: 1, max: 1 },
        { min: 1, max: 1 },
      ]);
      expect(boundsOf({ deployment_type, resource_spec: { queue_max_scale: 4 } })[1]).toEqual({ min: 1, max: 4 });
      const zero = { min_scale: 0, queue_min_scale: 0, max_scale: 2 };
      expect(boundsOf({ deployment_type, resource_spec: zero })).toEqual([1, 2].map(() => ({ min: 1, max: 2 })));
    },
  );
});

it('a deployment begins with its last process count, within its bounds', () => {
  const resources = { min_scale: 2, max_scale: 5 };
  expect([undefined, 1, 4, 9].map((count) => firstCount(resources, 'agent-api', { 'agent-api': count }))).toEqual([
    2, 2, 4, 5,
  ]);
});
