import { describe, expect, it } from 'vitest';
import { checkRepositoryUrl, fullRef, isSameRepository } from './repository-url.ts';

describe('the address of a repository', () => {
  it.each([
    ['https://github.com/acme/agent', false],
    ['http://127.0.0.1/acme/agent', true],
    ['ssh://git@github.com/acme/agent', true],
    ['git@github.com:acme/agent.git', true],
    ['ext::sh -c true', true],
    ['https://user:password@github.com/acme/agent', true],
    ['/srv/repository', true],
    ['file:///srv/repository', true],
  ])('%s is refused: %s', (url, isRefused) => {
    const check = () => checkRepositoryUrl(url, { allowsLocal: false });
    if (isRefused) expect(check).toThrow(/^Source configuration error: /);
    else expect(check).not.toThrow();
  });

  it('is recognized in different spellings', () => {
    expect(isSameRepository('https://github.com/Acme/agent.git', 'https://github.com/acme/agent/')).toBe(true);
    expect(isSameRepository('https://github.com/acme/agent', 'https://github.com/acme/agents')).toBe(false);
  });

  it('accepts branches and tags, and no options of git', () => {
    expect([fullRef('main'), fullRef('feature/x'), fullRef('refs/tags/v1')]).toEqual([
      'refs/heads/main',
      'refs/heads/feature/x',
      'refs/tags/v1',
    ]);
    for (const ref of ['--upload-pack=x', '-x', 'a..b', 'a b', '', 'a/', 'a.lock', '@{-1}'])
      expect(() => fullRef(ref)).toThrow(/no branch or tag/);
  });
});
