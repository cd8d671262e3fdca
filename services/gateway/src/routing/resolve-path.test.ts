import { describe, expect, it } from 'vitest';
import { resolvePath as resolveWithRoot } from './resolve-path.ts';

const resolvePath = (url: string) => resolveWithRoot(url, { hasRoot: false });

describe('the resolution of paths', () => {
  it.each([
    ['/v1/platform/deployments', 'org-access'],
    ['/api/v1/organizations/current/info', 'org-access'],
    ['/scim/v2/Users', 'org-access'],
    ['/auth/callback', 'org-access'],
    ['/login', 'org-access'],
    ['/oauth/token', 'org-access'],
    ['/.well-known/oauth-authorization-server', 'org-access'],
    ['/v1/projects', 'control-plane'],
    ['/v2/deployments?name_contains=a', 'control-plane'],
    ['/v2/authors', 'control-plane'],
    ['/v2/runsomething', 'control-plane'],
    ['/v2/auth', 'oauth-broker'],
    ['/v2/auth/callback/github?code=1', 'oauth-broker'],
    ['/v2/runs/search', 'run-history'],
    ['/v2/runs/0199f0a4-3b5e-7c61-9d2f-5a7e8f9b0c04', 'run-history'],
  ])('sends %s to %s, longest prefix first', (path, service) => {
    expect(resolvePath(path)).toMatchObject({ kind: 'service', service, target: path, stripped: '' });
  });

  it.each([
    ['control-plane', '/v2/deployments?limit=1'],
    ['oauth-broker', '/v2/auth/providers'],
    ['run-history', '/v2/runs/search'],
  ])('takes /api-host off paths to %s', (service, target) => {
    expect(resolvePath(`/api-host${target}`)).toMatchObject({ service, target, stripped: '/api-host' });
  });

  it.each([
    ['/docs', 'control-plane', '/docs'],
    ['/openapi.json', 'control-plane', '/openapi.json'],
    ['/api-host/docs', 'control-plane', '/docs'],
    ['/api-host/openapi.json', 'control-plane', '/openapi.json'],
    ['/api/docs', 'org-access', '/docs'],
    ['/api/openapi.json', 'org-access', '/openapi.json'],
    ['/v2/auth/docs', 'oauth-broker', '/docs'],
    ['/v2/auth/openapi.json', 'oauth-broker', '/openapi.json'],
    ['/v2/runs/docs', 'run-history', '/docs'],
    ['/v2/runs/openapi.json', 'run-history', '/openapi.json'],
  ])('sends %s, where the platform describes itself, to %s without a key', (path, service, target) => {
    expect(resolvePath(path)).toMatchObject({ kind: 'service', service, target, isSelfAuthenticating: true });
  });

  it('passes requests for tokens of programs on without a key, below /api too', () => {
    expect(resolvePath('/api/oauth/token')).toMatchObject({
      service: 'org-access',
      target: '/oauth/token',
      isSelfAuthenticating: true,
    });
  });

  it('lets the registry decide how large its bodies are', () => {
    expect(resolvePath('/v2/registry/x/blobs/uploads/1')).toMatchObject({
      service: 'registry',
      limitsBodies: true,
    });
    for (const url of ['/v2', '/v2/', '/v2/?a=b', '/v2/_catalog'])
      expect(resolvePath(url)).toMatchObject({ service: 'registry', target: url, limitsBodies: false });
    for (const url of ['/v2/deployments', '/v2//', '/v2/registry-two', '/v2/_catalog2'])
      expect(resolvePath(url)).toMatchObject({ service: 'control-plane' });
  });

  it('matches prefixes on whole segments', () => {
    for (const path of [
      '/v22/deployments',
      '/v2x',
      '/loginx',
      '/api/v12',
      '/internal/keys/verify',
      '/',
      '/deployments',
    ])
      expect(resolvePath(path)).toEqual({ kind: 'none' });
  });

  it('takes the deployment off the path and keeps the rest as it was sent', () => {
    expect(resolvePath('/deployments/hello/threads/a%2Fb?x=%20&y')).toEqual({
      kind: 'deployment',
      by: 'path',
      reference: 'hello',
      target: '/threads/a%2Fb?x=%20&y',
      path: '/threads/a%2Fb',
    });
    expect(resolvePath('/deployments/hello?x=1')).toMatchObject({ target: '/?x=1', path: '/' });
    expect(resolvePath('/deployments//ok')).toEqual({ kind: 'none' });
  });

  it.each([
    '/v1/../internal/keys/verify',
    '/deployments/hello/ok/../threads',
    '/deployments/hello/agents/ok/..%2fthreads',
    '/deployments/hello/%2e%2e/x',
    '/deployments/hello/ok%2f..%2fthreads',
    '/deployments/hello/./ok',
    'http://other.example/v2/deployments',
    '*',
  ])('sends %s nowhere', (path) => {
    expect(resolvePath(path)).toEqual({ kind: 'none' });
  });
});

describe('a deployment at the root', () => {
  const resolve = (url: string) => resolveWithRoot(url, { hasRoot: true });

  it.each([
    '/',
    '/ok',
    '/info?x=1',
    '/metrics',
    '/docs',
    '/openapi.json',
    '/threads/a%2Fb?x=%20&y',
    '/mcp',
    '/a2a/agent',
    '/.well-known/agent-card.json',
    '/.well-known/oauth-protected-resource/mcp',
    '/v22/x',
    '/V2/deployments',
    '//v2/deployments',
    '/%762/deployments',
    '/loginx',
    '/deploymentsx',
  ])('has %s, as it was sent', (url) => {
    const path = url.split('?', 1)[0];
    expect(resolve(url)).toEqual({ kind: 'deployment', by: 'root', reference: '', target: url, path });
  });

  it.each([
    ['/v1/platform/x', 'org-access'],
    ['/api/v1/organizations/current/info', 'org-access'],
    ['/scim/v2/Users', 'org-access'],
    ['/auth/callback', 'org-access'],
    ['/login', 'org-access'],
    ['/oauth/token', 'org-access'],
    ['/.well-known/oauth-authorization-server', 'org-access'],
    ['/api/docs', 'org-access'],
    ['/v1/projects', 'control-plane'],
    ['/v2/deployments', 'control-plane'],
    ['/api-host/docs', 'control-plane'],
    ['/api-host/openapi.json', 'control-plane'],
    ['/v2/auth/providers', 'oauth-broker'],
    ['/v2/runs/search', 'run-history'],
    ['/v2/', 'registry'],
  ])('leaves %s to %s', (url, service) => {
    expect(resolve(url)).toMatchObject({ kind: 'service', service });
  });

  it('leaves other deployments where they are', () => {
    expect(resolve('/deployments/hello/threads')).toMatchObject({ by: 'path', reference: 'hello', path: '/threads' });
    const metadata = '/.well-known/oauth-protected-resource/deployments/hello/mcp';
    expect(resolve(metadata)).toMatchObject({ by: 'path', reference: 'hello' });
  });

  it.each([
    '/internal',
    '/internal/routes',
    '/deployments',
    '/deployments/',
    '/v2/..',
    '/v2/../threads',
    '/threads/..%2fv2',
    '/threads/%2e%2e/v2/deployments',
    '/./threads',
    'http://other.example/v2/deployments',
    '*',
    '',
  ])('does not get %s', (url) => {
    expect(resolve(url)).toEqual({ kind: 'none' });
  });
});
