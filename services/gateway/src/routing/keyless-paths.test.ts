import { describe, expect, it } from 'vitest';
import { isKeyless } from './keyless-paths.ts';

const KEYLESS = [
  '/ok',
  '/docs',
  '/openapi.json',
  '/.well-known/agent-card.json',
  '/a2a/A/.well-known/agent-card.json',
  '/a2a/A/1.0/.well-known/agent-card.json',
  '/.well-known/agent-card-keys.json',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
  '/feedback/tokens/T',
  '/ui/agent/entrypoint.js',
];
const NEEDING_A_KEY = [
  '/metrics',
  '/ok/',
  '/OK',
  '/okay',
  '/docs/x',
  '/%6fk',
  '//ok',
  '/ok%2fthreads',
  '/a2a//.well-known/agent-card.json',
  '/a2a/A/x',
  '/mcp',
  '/.well-known/oauth-protected-resource/threads',
  '/ui/agent',
  '/ui/agent/a/b',
  '/info',
  '/threads',
];

describe('a deployment without a mount prefix', () => {
  it.each(['/', ...KEYLESS])('requires no key for %s', (path) => {
    expect(isKeyless(path, undefined)).toBe(true);
  });

  it.each([...NEEDING_A_KEY, '/agents/ok', '/agents'])('requires a key for %s', (path) => {
    expect(isKeyless(path, null)).toBe(false);
  });
});

describe('a deployment with a mount prefix', () => {
  it.each(['', '/', ...KEYLESS])('requires no key for %s below it', (path) => {
    expect(isKeyless(`/agents${path}`, '/agents')).toBe(true);
    expect(isKeyless(`/a/b.c${path}`, '/a/b.c')).toBe(true);
  });

  it('requires no key for /ok beside it, as its server answers there too', () => {
    expect(isKeyless('/ok', '/agents')).toBe(true);
  });

  it.each(NEEDING_A_KEY)('requires a key for %s below it', (path) => {
    expect(isKeyless(`/agents${path}`, '/agents')).toBe(false);
  });

  it.each(['/agentsok', '/agentsx/ok', '/AGENTS/ok', '/%61gents/ok', '//agents/ok', '/agents%2fok', '/x/agents/ok'])(
    'requires a key for %s, which is not below it',
    (path) => {
      expect(isKeyless(path, '/agents')).toBe(false);
    },
  );

  it('that looks like the beginning of a keyless path opens nothing but the keyless paths below it', () => {
    expect(isKeyless('/ui/agent/threads', '/ui/agent')).toBe(false);
    expect(isKeyless('/feedback/tokens/info', '/feedback/tokens')).toBe(false);
    expect(isKeyless('/ui/agent/ok', '/ui/agent')).toBe(true);
  });

  it.each(['/', '//', '/agents/', '/threads/..', '/./threads', '/threads%2f', 'threads', '/threads//', '*'])(
    'opens no path with the prefix %j',
    (prefix) => {
      for (const path of ['/threads', '/threads/', '/threads/docs', `${prefix}/threads`, `${prefix}/docs`])
        expect([path, isKeyless(path, prefix)]).toEqual([path, false]);
    },
  );

  it('opens nothing with an empty prefix either', () => {
    expect(isKeyless('/threads', '')).toBe(false);
  });
});
