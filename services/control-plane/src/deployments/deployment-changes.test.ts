import { describe, expect, it } from 'vitest';
import { changedSourceConfig, needsRevision } from './deployment-changes.ts';

describe('a change of a deployment makes a new revision', () => {
  it.each([
    ['a list of secrets, also an empty one', { secrets: [] }, true],
    ['a resource_spec', { source_config: { resource_spec: { memory_mb: 512 } } }, true],
    ['a configuration path', { source_revision_config: { langgraph_config_path: 'other.json' } }, true],
    ['nothing', {}, false],
    ['nulls', { secrets: null, source_config: null, source_revision_config: { langgraph_config_path: null } }, false],
    ['a URL alone', { source_config: { custom_url: 'https://elsewhere.example.com' } }, false],
    ['an empty configuration', { source_config: {}, source_revision_config: {} }, false],
  ])('for %s', (_, patch, expected) => {
    expect(needsRevision(patch)).toBe(expected);
  });
});

describe('the source of a deployment', () => {
  const current = { project_path: '/srv/a', deployment_type: 'dev' as const };

  it('keeps its folder and its type', () => {
    expect(() => changedSourceConfig(current, { project_path: '/srv/b' })).toThrow(/cannot change/);
    expect(() => changedSourceConfig(current, { deployment_type: 'prod' })).toThrow(/cannot change/);
    expect(changedSourceConfig(current, { project_path: '/srv/a' })).toEqual(current);
  });

  it('takes new resources, and never a URL', () => {
    const changed = changedSourceConfig(current, { resource_spec: { memory_mb: 512 }, custom_url: 'x' });
    expect(changed).toEqual({ ...current, resource_spec: { memory_mb: 512 } });
  });
});
