import { describe, expect, it } from 'vitest';
import { clearedSessionCookie, csrfTokenOf, isCsrfTokenOf, sessionCookie, sessionTokenIn } from './session-cookie.ts';

const at = (protocol: string, host: string, cookie?: string) => ({
  headers: { 'x-forwarded-proto': protocol, 'x-forwarded-host': host, ...(cookie === undefined ? {} : { cookie }) },
});

describe('the cookie of a session', () => {
  it.each([
    ['https', 'runyard.example'],
    ['https', 'localhost:8080'],
    ['http', 'runyard.example'],
    ['http', 'localhost.example'],
    ['http', '127.0.0.1.example'],
    ['http', '127.0.0.1@runyard.example'],
  ])('has the __Host- prefix and Secure at %s://%s', (protocol, host) => {
    expect(sessionCookie('rys_a', at(protocol, host), 60)).toBe(
      '__Host-runyard_session=rys_a; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=60',
    );
    expect(sessionTokenIn(at(protocol, host, 'runyard_session=rys_a'))).toBeUndefined();
    expect(sessionTokenIn(at(protocol, host, 'a=b; __Host-runyard_session=rys_a'))).toBe('rys_a');
  });

  it.each(['localhost', 'localhost:4000', '127.0.0.1:80', '127.1.2.3', '[::1]:4000'])(
    'has neither on plain HTTP to the loopback address %s',
    (host) => {
      expect(sessionCookie('rys_a', at('http', host))).toBe('runyard_session=rys_a; Path=/; HttpOnly; SameSite=Lax');
      expect(sessionTokenIn(at('http', host, '__Host-runyard_session=rys_a'))).toBeUndefined();
      expect(sessionTokenIn(at('http', host, 'runyard_session=rys_a'))).toBe('rys_a');
    },
  );

  it('counts for nothing when it is there twice, and when it holds no token of a session', () => {
    const twice = '__Host-runyard_session=rys_a; __Host-runyard_session=rys_b';
    expect(sessionTokenIn(at('https', 'runyard.example', twice))).toBeUndefined();
    expect(sessionTokenIn(at('https', 'runyard.example', '__Host-runyard_session=lsv2_sk_a'))).toBeUndefined();
  });

  it('is forgotten by the browser after sign-out', () => {
    expect(clearedSessionCookie(at('https', 'runyard.example'))).toContain('__Host-runyard_session=; ');
    expect(clearedSessionCookie(at('https', 'runyard.example'))).toContain('Max-Age=0');
  });

  it('has one CSRF token, which does not lead back to it', () => {
    expect(csrfTokenOf('rys_a')).not.toContain('rys_a');
    expect(isCsrfTokenOf('rys_a', csrfTokenOf('rys_a'))).toBe(true);
    expect(isCsrfTokenOf('rys_a', csrfTokenOf('rys_b'))).toBe(false);
    expect(isCsrfTokenOf('rys_a', '')).toBe(false);
  });
});
