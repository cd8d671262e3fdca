import type { DeploymentSource, ResourceSpec } from '@runyard/contracts';
import { UnprocessableError } from '@runyard/service-kit';
import { describe, expect, it } from 'vitest';
import { checkSourceRules, type SourceState } from './source-rules.ts';

const LISTENER = '0192f7a0-0000-7000-8000-000000000001';
const repository = { repo_url: 'https://github.com/acme/agent' };
const branch = { repo_ref: 'main', langgraph_config_path: 'langgraph.json' };
const upload = { source_tarball_path: 'a/1.tar.gz', langgraph_config_path: 'langgraph.json' };
const inCluster = { metadata: ['team'], pullSecrets: [] };
const image = { image_uri: 'registry.example.com:5000/acme/agent:1.0' };

function check(source: DeploymentSource, state: Partial<SourceState>): void {
  checkSourceRules({
    source,
    revisionSource: source,
    config: {},
    revisionConfig: {},
    computeType: null,
    pods: null,
    ...state,
  });
}

describe('a source is accepted:', () => {
  const taken: [DeploymentSource, Partial<SourceState>][] = [
    ['github', { config: repository, revisionConfig: branch }],
    ['github', { config: { ...repository, build_on_push: true }, revisionConfig: branch }],
    ['github', { config: { repo_url: 'git@github.com:acme/agent.git' }, revisionConfig: branch }],
    [
      'github',
      { config: { ...repository, build_on_push: false }, revisionConfig: { ...branch, repo_ref: 'refs/tags/v1' } },
    ],
    ['external_docker', { config: { custom_url: 'https://agent.example.com' }, revisionConfig: image }],
    ['external_docker', {}],
    // The data plane has not reported its pod rules yet.
    [
      'external_docker',
      { config: { listener_id: LISTENER, resource_spec: { labels: { team: 'a' } } }, computeType: 'k8s' },
    ],
    ['external_docker', { config: { resource_spec: { labels: { team: 'a' } } }, pods: inCluster }],
    ['internal_docker', { config: { listener_id: LISTENER }, computeType: 'docker' }],
    ['github', { config: { ...repository, listener_id: LISTENER }, revisionConfig: branch, computeType: 'k8s' }],
    [
      'internal_source',
      { config: { listener_id: LISTENER, build_command: 'npm run build' }, revisionConfig: upload, computeType: 'k8s' },
    ],
    [
      'external_docker',
      {
        revisionSource: 'internal_source',
        config: { listener_id: LISTENER },
        revisionConfig: upload,
        computeType: 'docker',
      },
    ],
    ['local_directory', { config: { project_path: '/srv/a', listener_id: LISTENER }, computeType: 'process' }],
    ['github', { config: repository }],
    ['internal_docker', { revisionConfig: { image_uri: `runyard/agent@sha256:${'a'.repeat(64)}` } }],
    ['internal_docker', {}],
    [
      'internal_docker',
      { revisionSource: 'internal_source', config: { install_command: 'npm ci' }, revisionConfig: upload },
    ],
    ['internal_source', { config: { build_command: 'npm run build' }, revisionConfig: upload }],
    ['internal_source', {}],
    ['local_directory', { config: { project_path: '/srv/a', resource_spec: { min_scale: 1, max_scale: 4 } } }],
  ];
  it.each(taken)('%s with %j', (source, state) => {
    expect(() => check(source, state)).not.toThrow();
  });
});

describe('a source is refused:', () => {
  const refused: [DeploymentSource, Partial<SourceState>, string][] = [
    ['github', { revisionConfig: branch }, "'source_config.repo_url' is required"],
    [
      'github',
      { config: repository, revisionConfig: { repo_ref: 'main' } },
      "'source_revision_config.langgraph_config_path' is required",
    ],
    [
      'github',
      { config: { repo_url: 'https://a:secret@example.com/a' }, revisionConfig: branch },
      'must not hold a password',
    ],
    [
      'github',
      { config: { ...repository, build_on_push: true }, revisionConfig: { ...branch, repo_ref: 'refs/tags/v1' } },
      "'source_config.build_on_push' is for branches",
    ],
    [
      'github',
      { config: { ...repository, project_path: '/srv/a' }, revisionConfig: branch },
      "'source_config.project_path' must be null",
    ],
    [
      'github',
      { config: repository, revisionConfig: { ...branch, ...image } },
      "'source_revision_config.image_uri' must be null",
    ],
    [
      'internal_source',
      { config: { listener_id: LISTENER }, computeType: 'process' },
      "the source 'internal_source' cannot be run by a listener of the compute type 'process'",
    ],
    [
      'local_directory',
      { revisionSource: 'internal_docker', config: { listener_id: LISTENER }, computeType: 'process' },
      "the source 'internal_docker' cannot be run by a listener of the compute type 'process'",
    ],
    [
      'local_directory',
      { config: { project_path: '/srv/a', listener_id: LISTENER }, computeType: 'k8s' },
      "the source 'local_directory' cannot be run by a listener of the compute type 'k8s'",
    ],
    [
      'external_docker',
      { config: { listener_config: { k8s_namespace: 'a' } } },
      "'source_config.listener_config' must be null",
    ],
    ['external_docker', { config: { custom_url: 'ftp://a' } }, "'source_config.custom_url' must be"],
    [
      'external_docker',
      { revisionConfig: { langgraph_config_path: 'langgraph.json' } },
      "'source_revision_config.langgraph_config_path' must be null",
    ],
    ['internal_docker', { config: { build_on_push: true } }, "'source_config.build_on_push' must be null"],
    ['internal_docker', { revisionSource: 'github', revisionConfig: branch }, "'revision_source' cannot be 'github'"],
    [
      'internal_source',
      { revisionConfig: { source_tarball_path: 'a' } },
      "'source_revision_config.langgraph_config_path' is required",
    ],
    [
      'internal_source',
      { revisionConfig: { ...upload, langgraph_config_path: '../x.json' } },
      "must be inside the project's folder",
    ],
    [
      'internal_source',
      { revisionConfig: { ...upload, langgraph_config_path: '/x.json' } },
      "must be inside the project's folder",
    ],
    ['internal_source', { revisionConfig: branch }, "'source_revision_config.repo_ref' must be null"],
    ['local_directory', { config: repository }, "'source_config.repo_url' must be null"],
    ['local_directory', { config: { install_command: 'npm ci' } }, "'source_config.install_command' must be null"],
  ];
  it.each(refused)('%s with %j', (source, state, reason) => {
    expect(() => check(source, state)).toThrow(`Source configuration error: `);
    expect(() => check(source, state)).toThrow(reason);
  });
});

describe('resources are refused with their location, like every other invalid field:', () => {
  const refused: [ResourceSpec, Partial<SourceState>, string][] = [
    [{ min_scale: 4, max_scale: 2 }, {}, "max_scale: It must not be less than 'min_scale'"],
    [{ cpu: 2, cpu_limit: 1 }, {}, "cpu_limit: It must not be less than 'cpu'"],
    [{ queue_memory_mb: 1024, queue_memory_limit_mb: 512 }, {}, 'queue_memory_limit_mb: It must not be less than'],
    [{ volumes: [] }, {}, 'volumes: No data plane takes it'],
    [{ db_storage_gi: 10 }, {}, 'db_storage_gi: No data plane takes it'],
    [{ redis_memory_mb: 256 }, { computeType: 'k8s' }, 'redis_memory_mb: No data plane takes it'],
    [{ sidecars: [] }, { computeType: 'k8s', pods: inCluster }, 'sidecars: No data plane takes it'],
    [{ service_account_name: 'admin' }, { pods: inCluster }, 'service_account_name: No data plane takes it'],
    [{ labels: { team: 'a' } }, {}, 'labels: It is for deployments that run in a Kubernetes cluster'],
    [{ labels: { team: 'a' } }, { computeType: 'docker' }, 'labels: It is for deployments that run in a Kubernetes'],
    [{ labels: { tier: 'a' } }, { pods: inCluster }, 'labels: It may not have tier here'],
    [{ labels: { tier: 'a' } }, { computeType: 'k8s', pods: inCluster }, 'labels: It may not have tier here'],
  ];
  it.each(refused)('%j with %j', (resource_spec, state, reason) => {
    const refusal = (() => {
      try {
        return check('external_docker', { config: { resource_spec }, ...state });
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(UnprocessableError);
    expect((refusal as Error).message).toContain(`body.source_config.resource_spec.${reason}`);
    const [{ loc }] = (refusal as UnprocessableError).body.detail as [{ loc: string[] }];
    expect(loc).toEqual(['body', 'source_config', 'resource_spec', reason.split(':')[0]]);
  });
});
