import { describe, expect, it } from 'vitest';
import { changeRevisionSource, changeSourceConfig, checkCommit, needsRevision } from './source-changes.ts';

describe('a change of a deployment', () => {
  it.each([
    ['a list of secrets, also an empty one', { secrets: [] }, true],
    ['a list of references to secrets', { secret_references: [] }, true],
    ['a resource_spec, also an empty one', { source_config: { resource_spec: {} } }, true],
    ['a configuration path', { source_revision_config: { langgraph_config_path: 'other.json' } }, true],
    ['an image', { source_revision_config: { image_uri: 'registry.example.com/agent:2' } }, true],
    ['nothing', {}, false],
    ['nulls', { secrets: null, source_config: null, source_revision_config: { langgraph_config_path: null } }, false],
    ['a URL alone', { source_config: { custom_url: 'https://elsewhere.example.com' } }, false],
    ['build_on_push alone', { source_config: { build_on_push: true } }, false],
    ['commands alone', { source_config: { install_command: 'npm ci', build_command: 'npm run build' } }, false],
    ['packages or a source alone', { tracked_packages: ['a:1'], revision_source: 'internal_source' as const }, false],
    ['the commit that was built', { source_revision_config: { repo_commit_sha: 'abc' } }, false],
    ['an empty configuration', { source_config: {}, source_revision_config: {} }, false],
  ])('with %s %j makes a new revision: %j', (_, patch, expected) => {
    expect(needsRevision(patch)).toBe(expected);
  });
});

describe('the source of a deployment', () => {
  const current = { project_path: '/srv/a', deployment_type: 'dev' as const };
  const change = (fields: object) => changeSourceConfig('local_directory', current, fields);

  it.each([
    ['project_path', '/srv/b'],
    ['deployment_type', 'prod'],
    ['repo_url', 'https://example.com/b'],
    ['integration_id', '0192f7a0-0000-7000-8000-000000000001'],
    ['listener_id', '0192f7a0-0000-7000-8000-000000000001'],
    ['listener_config', { k8s_namespace: 'b' }],
  ])('keeps its %s', (field, value) => {
    expect(() => change({ [field]: value })).toThrow(`'source_config.${field}' cannot change`);
  });

  it('accepts its current values, and nulls', () => {
    expect(change({ project_path: '/srv/a', deployment_type: null, listener_config: null })).toEqual(current);
  });

  it('gets new resources as a whole, with cores as they were sent', () => {
    const resource_spec = { memory_mb: 512, cpu: 1.26, queue_cpu: null };
    expect(change({ resource_spec })).toEqual({
      ...current,
      resource_spec: { memory_mb: 512, cpu: 1.26 },
    });
  });

  it('has a URL of its own only for an external image', () => {
    const custom_url = 'https://x.example.com';
    expect(changeSourceConfig('external_docker', {}, { custom_url })).toEqual({ custom_url });
    expect(() => change({ custom_url })).toThrow("'source_config.custom_url' is read-only");
    for (const source of ['local_directory', 'external_docker'] as const) {
      expect(changeSourceConfig(source, current, { custom_url }, [custom_url])).toEqual(current);
    }
  });

  it('shows the commit that was built, and accepts no other', () => {
    checkCommit({ repo_commit_sha: 'abc' }, 'abc');
    checkCommit({ repo_commit_sha: null });
    expect(() => checkCommit({ repo_commit_sha: 'abc' }, 'def')).toThrow('is read-only');
    expect(() => checkCommit({ repo_commit_sha: 'abc' })).toThrow('is read-only');
  });
});

describe('the next revision', () => {
  const uploaded = { source_tarball_path: 'a/1.tar.gz', langgraph_config_path: 'langgraph.json' };
  const latest = { source: 'internal_source', sourceRevisionConfig: uploaded };
  const deployment = { source: 'internal_docker' };

  it('runs the same again when nothing else is named', () => {
    expect(changeRevisionSource(deployment, latest, { secrets: [] })).toEqual({
      revisionSource: 'internal_source',
      sourceRevisionConfig: uploaded,
    });
  });

  it('keeps the fields of its own source only', () => {
    const next = { source_tarball_path: 'a/2.tar.gz' };
    expect(
      changeRevisionSource(deployment, latest, { revision_source: 'internal_source', source_revision_config: next }),
    ).toEqual({
      revisionSource: 'internal_source',
      sourceRevisionConfig: { ...next, langgraph_config_path: 'langgraph.json' },
    });
  });

  it("is of the deployment's source unless another is named", () => {
    const image_uri = 'registry.example.com/agent:2';
    expect(changeRevisionSource(deployment, latest, { source_revision_config: { image_uri } })).toEqual({
      revisionSource: 'internal_docker',
      sourceRevisionConfig: { image_uri },
    });
  });

  it('comes from another source only with something of that to run', () => {
    expect(() => changeRevisionSource(deployment, latest, { revision_source: 'internal_docker', secrets: [] })).toThrow(
      "'revision_source' is 'internal_docker'",
    );
  });

  it('determines the commit again', () => {
    const built = { repo_ref: 'main', langgraph_config_path: 'langgraph.json', repo_commit_sha: 'abc' };
    const pushed = { source: 'github', sourceRevisionConfig: built };
    expect(changeRevisionSource({ source: 'github' }, pushed, { secrets: [] }).sourceRevisionConfig).toEqual({
      repo_ref: 'main',
      langgraph_config_path: 'langgraph.json',
    });
  });
});
