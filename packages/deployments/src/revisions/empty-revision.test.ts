import { describe, expect, it } from 'vitest';
import { isEmpty } from './empty-revision.ts';

describe('a revision has something to run', () => {
  it.each([
    ['github', { repo_ref: 'main', langgraph_config_path: 'langgraph.json' }, true],
    ['github', { langgraph_config_path: 'langgraph.json' }, true],
    ['github', {}, false],
    ['external_docker', { image_uri: 'example.com/agent@sha256:0' }, true],
    ['internal_docker', { image_uri: null }, false],
    ['internal_source', { source_tarball_path: 'uploads/1.tar.gz' }, true],
    ['internal_source', { langgraph_config_path: 'langgraph.json' }, false],
    ['local_directory', {}, true],
  ] as const)('of the source %s with %j: %s', (source, config, expected) => {
    expect(!isEmpty(source, config)).toBe(expected);
  });
});
