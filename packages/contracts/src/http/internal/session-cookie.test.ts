import { describe, expect, it } from 'vitest';
import {
  consoleCookieName,
  consoleSignInCookieName,
  isConsoleCookie,
  isPlainLoopback,
  isPlatformCookie,
  sessionCookieName,
} from './session-cookie.ts';

describe('an address that is plain HTTP to this machine', () => {
  it.each([
    'localhost',
    'localhost:2024',
    'console.localhost:2024',
    'Console.Localhost.',
    'a.b.localhost',
    '127.0.0.1:80',
    '[::1]:1',
  ])('is %s', (host) => {
    expect(isPlainLoopback({ protocol: 'http', host })).toBe(true);
    expect(isPlainLoopback({ protocol: 'https', host })).toBe(false);
  });

  it.each([
    ...['localhost.example', 'console.localhost.example', 'notlocalhost', '.localhost', 'a..localhost', '-a.localhost'],
    ...['user@localhost', 'a.localhost:', 'a.localhost@evil.example', 'evil.example:80.localhost', 'a_b.localhost'],
    ...['a.localhost/path', 'a.localhost\n', '127.0.0.1.example', ''],
  ])('is not %j', (host) => {
    expect(isPlainLoopback({ protocol: 'http', host })).toBe(false);
  });
});

describe('the cookies of the console', () => {
  it('have the prefix that ties them to their host, but on plain HTTP to this machine', () => {
    const there = { protocol: 'https', host: 'console.example.com' };
    const here = { protocol: 'http', host: 'console.localhost:2024' };
    expect([consoleCookieName(there), consoleSignInCookieName(there)]).toEqual([
      '__Host-runyard_console',
      '__Host-runyard_console_sign_in',
    ]);
    expect([consoleCookieName(here), consoleSignInCookieName(here)]).toEqual([
      'runyard_console',
      'runyard_console_sign_in',
    ]);
    expect(sessionCookieName(here)).toBe('runyard_session');
  });

  it('are the platform’s, and told from its others by their names', () => {
    const names = [
      'runyard_console',
      '__Host-runyard_console',
      'RUNYARD-console_sign_in',
      '__Secure-runyard_console_x',
    ];
    expect(names.map((name) => [isConsoleCookie(name), isPlatformCookie(name)])).toEqual(names.map(() => [true, true]));
    for (const name of [
      'runyard_session',
      '__Host-runyard_session',
      'runyard_consoles',
      'console',
      'my_runyard_console',
    ])
      expect([name, isConsoleCookie(name)]).toEqual([name, false]);
  });
});
