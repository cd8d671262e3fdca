import { describe, expect, it } from 'vitest';
import { readFlags } from './flags.ts';

const read = (...args: string[]) => readFlags(args, '/repository');

describe('the agent server at the root', () => {
  it.each(['127.0.0.1', '127.0.0.2', '::1', 'localhost'])('needs no key where it listens on %s', (host) => {
    expect(read('--host', host)).toMatchObject({ host, needsKey: false });
    expect(read('--host', host, '--auth')).toMatchObject({ needsKey: true });
  });

  it.each(['0.0.0.0', '::', '192.168.1.5', 'agents.example', '127.agents.example', 'localhost.example'])(
    'needs a key where it listens on %s, which other machines may reach',
    (host) => {
      expect(read('--host', host)).toMatchObject({ host, needsKey: true });
    },
  );

  it('listens on this machine alone, and lets no page of another site call, unless that is asked for', () => {
    expect(read()).toMatchObject({ host: '127.0.0.1', needsKey: false, origins: [] });
    expect(read('--origin', 'https://App.example/', '--origin', 'chrome-extension://abc').origins).toEqual([
      'https://app.example',
      'chrome-extension://abc',
    ]);
  });

  it.each(['*', 'null', 'app.example', 'https://*', 'https://app.example/path', 'https://a.example,https://b.example'])(
    'takes no --origin %s',
    (origin) => {
      expect(() => read('--origin', origin)).toThrow(`--origin ${origin} is not an origin`);
    },
  );
});
