import type { IncomingMessage } from 'node:http';
import { ForbiddenError, type PrincipalVerifier, UnauthorizedError } from '@runyard/service-kit';
import { describe, expect, it, vi } from 'vitest';
import type { Scope } from '../access/scope.ts';
import { projectUser } from '../auth/user-caller.ts';
import { customRoutePolicyOf } from '../http/custom-routes.ts';
import { CustomRouteAccess } from './custom-route-access.ts';

const ADA = projectUser({ identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: [] });
const request = (url: string, authorization?: string) =>
  ({ method: 'POST', url, headers: { ...(authorization && { authorization }) } }) as IncomingMessage;

const principal: PrincipalVerifier = {
  authenticate: async ({ headers }) => {
    if (headers.authorization !== 'ada') throw new UnauthorizedError('Who are you?', { code: 'user_unauthenticated' });
    return ADA;
  },
};

function accessWith(setting: boolean | undefined, answer: Scope | Error = [{}]) {
  const authorize = vi.fn(async (_caller: unknown, _event: string, value: never) => {
    if (answer instanceof Error) throw answer;
    return { scope: answer, value };
  });
  const authorizer = { authorize } as never;
  return { authorize, access: new CustomRouteAccess({ principal, authorizer, policy: customRoutePolicyOf(setting) }) };
}

describe('http.enable_custom_route_auth', () => {
  it('left out lets in every user, and asks no on handler', async () => {
    const { access, authorize } = accessWith(undefined, new ForbiddenError('No', { code: 'denied_by_project' }));
    expect(access.isOpen(request('/custom'))).toBe(false);
    expect(await access.requireCaller(request('/custom', 'ada'))).toBe(ADA);
    await expect(access.requireCaller(request('/custom'))).rejects.toThrow(UnauthorizedError);
    expect(authorize).not.toHaveBeenCalled();
  });

  it('true asks the on handlers about the method and the path, and a denial or an error lets nobody in', async () => {
    const { access, authorize } = accessWith(true, [{ owner: 'ada' }]);
    expect(await access.requireCaller(request('/custom/a?b=1', 'ada'))).toBe(ADA);
    expect(authorize).toHaveBeenCalledWith(ADA, 'routes:call', { method: 'POST', path: '/custom/a' });
    await expect(access.requireCaller(request('/custom'))).rejects.toThrow(UnauthorizedError);
    for (const answer of [[], new ForbiddenError('No', { code: 'denied_by_project' }), new Error('broken')]) {
      await expect(accessWith(true, answer).access.requireCaller(request('/custom', 'ada'))).rejects.toThrow();
    }
  });

  it('whatever it is, MCP clients may look for the issuer of tokens', () => {
    const { access } = accessWith(true);
    const wellKnown = '/.well-known/oauth-protected-resource';
    const isOpen = (path: string) => access.isOpen(request(path));
    expect(['', '/mcp', '/mcp?a=1'].map((rest) => isOpen(wellKnown + rest))).toEqual([true, true, true]);
    expect(['/', '/mcp/', '/threads'].map((rest) => isOpen(wellKnown + rest))).toEqual([false, false, false]);
  });

  it('false opens every route', () => {
    const { access } = accessWith(false);
    expect(access.isOpen(request('/custom'))).toBe(true);
  });

  it('opens nothing in a project without an auth handler', () => {
    const access = new CustomRouteAccess({ principal, authorizer: undefined, policy: customRoutePolicyOf(false) });
    expect(['/custom', '/noauth'].map((url) => access.isOpen(request(url)))).toEqual([false, false]);
  });
});
