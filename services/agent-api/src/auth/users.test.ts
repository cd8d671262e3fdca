import type { IncomingMessage } from 'node:http';
import { PRINCIPAL_HEADER } from '@runyard/contracts';
import { AuthHandlerError } from '@runyard/host-client';
import type {
  AuthenticateRequest,
  Authentication,
  Authorization,
  AuthorizeRequest,
  AuthUser,
} from '@runyard/host-protocol';
import { allowAll, INTERNAL, type PrincipalVerifier, UnauthorizedError } from '@runyard/service-kit';
import { describe, expect, it, vi } from 'vitest';
import { UNRESTRICTED } from '../access/scope.ts';
import { AssistantIds, systemAssistantId } from '../assistants/assistant-ids.ts';
import { AuthFilterError } from './auth-filter.ts';
import { Authorizer } from './authorizer.ts';
import { projectUser } from './user-caller.ts';
import { type AuthSettings, UserVerifier } from './user-verifier.ts';

const source = { file: '/project/auth.ts', symbol: 'auth' };
const THREAD_ID = '01a1c7de-8c1b-7c3e-9d52-0a4c8d7e1f20';
const ADA: AuthUser = { identity: 'ada', display_name: 'ada', is_authenticated: true, permissions: [] };
const refusal = (status: number) => ({ status, detail: 'No', headers: { 'x-why': 'because', 'content-length': '9' } });

function requestWith(headers: Record<string, string | string[]>): IncomingMessage {
  const pairs = Object.entries({ host: 'agents.example.com', ...headers });
  return {
    method: 'GET',
    url: '//threads?a=%2f',
    headers: Object.fromEntries(pairs.map(([name, value]) => [name, [value].flat().join(', ')])),
    headersDistinct: Object.fromEntries(pairs.map(([name, value]) => [name, [value].flat()])),
    rawHeaders: pairs.flatMap(([name, value]) => [value].flat().flatMap((each) => [name, each])),
  } as unknown as IncomingMessage;
}

/** Refuses everybody who does not come with a principal token, as the platform's verifier does. */
const platform: PrincipalVerifier = {
  authenticate: async ({ headers }) => {
    if (headers[PRINCIPAL_HEADER] !== 'signed')
      throw new UnauthorizedError('no token', { code: 'principal_token_missing' });
    return allowAll({ identity: 'key-1', permissions: ['runs:read'] }).authenticate(requestWith({}));
  },
};

function verifierWith(settings: AuthSettings = {}, answer: () => Authentication = () => ({ kind: 'user', user: ADA })) {
  const authenticate = vi.fn(async (_request: AuthenticateRequest) => answer());
  const host = { requireRunning: async () => ({ authenticate }) };
  return { authenticate, verifier: new UserVerifier({ source, settings, host, platform }) };
}

describe('authenticating', () => {
  it('shows the handler the request as it was sent, without what parts of the platform say to each other', async () => {
    const { verifier, authenticate } = verifierWith();
    const headers = { [PRINCIPAL_HEADER]: 'signed', authorization: 'Bearer x', cookie: ['a=1', 'b=2'] };
    expect(await verifier.authenticate(requestWith(headers))).toMatchObject({ identity: 'ada', user: ADA });
    expect(authenticate.mock.calls[0]![0]).toEqual({
      source,
      method: 'GET',
      url: 'http://agents.example.com//threads?a=%2f',
      headers: [
        ['host', 'agents.example.com'],
        ['authorization', 'Bearer x'],
        ['cookie', 'a=1'],
        ['cookie', 'b=2'],
      ],
    });
  });

  it.each([401, 402, 403, 500])('answers %i as the handler says, with its headers', async (status) => {
    const { verifier } = verifierWith({}, () => ({ kind: 'refused', refusal: refusal(status) }));
    await expect(verifier.authenticate(requestWith({}))).rejects.toMatchObject({
      status,
      message: 'No',
      headers: { 'x-why': 'because' },
    });
  });

  it.each([
    ['late', 503],
    ['gone', 503],
    ['failed', undefined],
  ] as const)('lets nobody in when the handler is %s', async (reason, status) => {
    const { verifier } = verifierWith({}, () => {
      throw new AuthHandlerError(reason, 'authenticate', 'secret detail');
    });
    const error = await verifier.authenticate(requestWith({})).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect((error as { status?: number }).status).toBe(status);
    if (status) expect((error as Error).message).not.toContain('secret');
  });

  it('Studio is believed with a credential of the platform, and never by its header alone', async () => {
    const studio = { 'x-auth-scheme': 'langsmith' };
    const { verifier, authenticate } = verifierWith();
    await expect(verifier.authenticate(requestWith(studio))).rejects.toThrow(UnauthorizedError);
    const known = await verifier.authenticate(requestWith({ ...studio, [PRINCIPAL_HEADER]: 'signed' }));
    expect(known).toMatchObject({ permissions: ['runs:read'], user: { kind: 'StudioUser' } });
    expect(authenticate).not.toHaveBeenCalled();
    const { verifier: strict } = verifierWith({ disable_studio_auth: true });
    expect(await strict.authenticate(requestWith({ ...studio, [PRINCIPAL_HEADER]: 'signed' }))).toMatchObject({
      user: ADA,
    });
  });

  it('a platform key counts only where the project allows it, and not beside an Authorization', async () => {
    const key = { [PRINCIPAL_HEADER]: 'signed' };
    expect(await verifierWith().verifier.authenticate(requestWith(key))).toMatchObject({ user: ADA });
    const { verifier } = verifierWith({ allow_langsmith_api_keys: true });
    expect(await verifier.authenticate(requestWith(key))).toMatchObject({
      permissions: ['runs:read'],
      user: { identity: 'key-1', permissions: ['authenticated'] },
    });
    expect(await verifier.authenticate(requestWith({ ...key, authorization: 'Bearer x' }))).toMatchObject({
      user: ADA,
    });
    await expect(verifier.authenticate(requestWith({ 'x-api-key': 'forged' }))).rejects.toThrow(UnauthorizedError);
  });

  it('the project alone says who calls where nobody verifies callers of the platform', async () => {
    const settings = { allow_langsmith_api_keys: true };
    const host = { requireRunning: async () => ({ authenticate: async () => ({ kind: 'user' as const, user: ADA }) }) };
    const verifier = new UserVerifier({ source, settings, host, platform: undefined });
    const claims: Record<string, string>[] = [{ 'x-auth-scheme': 'langsmith' }, { 'x-api-key': 'k' }];
    for (const headers of claims) {
      expect((await verifier.authenticate(requestWith(headers))).user).toBe(ADA);
    }
  });

  it('the cache knows users by exactly the headers that the project names, for a while', async () => {
    vi.useFakeTimers();
    try {
      const settings = { cache: { cache_keys: ['Authorization', 'x-org'], ttl_seconds: 10, max_size: 2 } };
      const { verifier, authenticate } = verifierWith(settings);
      const ask = (headers: Record<string, string | string[]>) => verifier.authenticate(requestWith(headers));
      await ask({ authorization: 'a' });
      await ask({ authorization: 'a', other: '1' });
      expect(authenticate).toHaveBeenCalledTimes(1);
      await ask({ authorization: 'a', 'x-org': '1' });
      await ask({ 'x-org': 'a' });
      expect(authenticate).toHaveBeenCalledTimes(3);
      await ask({ authorization: 'a' }); // The oldest of more than two is gone.
      expect(authenticate).toHaveBeenCalledTimes(4);
      vi.advanceTimersByTime(10_000);
      await ask({ authorization: 'a' });
      await ask({});
      await ask({});
      expect(authenticate).toHaveBeenCalledTimes(7);
    } finally {
      vi.useRealTimers();
    }
  });

  it('the cache does not remember refusals', async () => {
    const answers: Authentication[] = [
      { kind: 'refused', refusal: refusal(401) },
      { kind: 'user', user: ADA },
    ];
    const { verifier } = verifierWith({ cache: { cache_keys: ['authorization'] } }, () => answers.shift()!);
    const request = requestWith({ authorization: 'a' });
    await expect(verifier.authenticate(request)).rejects.toMatchObject({ status: 401 });
    expect(await verifier.authenticate(request)).toMatchObject({ user: ADA });
  });
});

describe('authorizing', () => {
  const allowed = (filter: Record<string, unknown> | null, value = {}): Authorization => ({
    kind: 'allowed',
    filter,
    value,
  });
  function authorizerWith(events: string[], answer: Authorization | Error) {
    const authorize = vi.fn(async (_request: AuthorizeRequest) => {
      if (answer instanceof Error) throw answer;
      return answer;
    });
    const running = { loadAuth: async () => ({ events }), authorize };
    const ids = new AssistantIds(['echo']);
    return {
      authorize,
      authorizer: new Authorizer({
        source,
        findAssistantId: (name) => ids.find(name),
        host: { requireRunning: async () => running },
      }),
    };
  }
  const read = (authorizer: Authorizer, caller = projectUser(ADA) as Parameters<Authorizer['authorize']>[0]) =>
    authorizer.authorize(caller, 'threads:read', { thread_id: '1' });

  it('a filter is a scope, and the value is as the handler left it', async () => {
    const { authorizer } = authorizerWith(['threads'], allowed({ owner: 'ada' }, { thread_id: '1', seen: true }));
    expect(await read(authorizer)).toEqual({ scope: [{ owner: 'ada' }], value: { thread_id: '1', seen: true } });
  });

  it.each([['threads:read'], ['threads'], ['*:read'], ['*']])('the handler of %s is asked', async (event) => {
    const { authorizer, authorize } = authorizerWith([event], allowed(null));
    expect((await read(authorizer)).scope).toBe(UNRESTRICTED);
    expect(authorize).toHaveBeenCalledOnce();
  });

  it('an event without a handler is allowed without asking', async () => {
    const { authorizer, authorize } = authorizerWith(['threads:create', 'assistants'], { kind: 'denied' });
    expect(await read(authorizer)).toEqual({ scope: UNRESTRICTED, value: { thread_id: '1' } });
    expect(authorize).not.toHaveBeenCalled();
  });

  it('a denial is a 403, a refusal what it says, and an answer that cannot be applied an error', async () => {
    const answers: [Authorization | Error, object][] = [
      [{ kind: 'denied' }, { status: 403 }],
      [
        { kind: 'refused', refusal: refusal(404) },
        { status: 404, message: 'No' },
      ],
      [new AuthHandlerError('late', 'threads:read', 'no answer in 15 s'), { status: 503 }],
    ];
    for (const [answer, error] of answers) {
      await expect(read(authorizerWith(['*'], answer).authorizer)).rejects.toMatchObject(error);
    }
    const unknown = authorizerWith(['*'], allowed({ owner: { $ne: 'bob' } })).authorizer;
    await expect(read(unknown)).rejects.toThrow(AuthFilterError);
    const failed = authorizerWith(['*'], new AuthHandlerError('failed', 'threads:read', 'no table')).authorizer;
    await expect(read(failed)).rejects.toThrow(AuthHandlerError);
  });

  it('a handler is shown each thing under one name', async () => {
    const { authorizer, authorize } = authorizerWith(['*'], allowed(null));
    const echo = systemAssistantId('echo');
    const [thread, upper] = [THREAD_ID, THREAD_ID.toUpperCase()];
    const sent = {
      thread_id: upper,
      assistant_id: 'echo',
      run_ids: [upper],
      metadata: { thread_id: upper },
      payload: { assistant_id: echo.toUpperCase(), schedule: 'A' },
    };
    await authorizer.authorize(projectUser(ADA), 'crons:create', sent);
    expect(authorize.mock.calls[0]).toMatchObject([
      {
        value: {
          thread_id: thread,
          assistant_id: echo,
          run_ids: [thread],
          metadata: { thread_id: upper },
          payload: { assistant_id: echo, schedule: 'A' },
        },
      },
    ]);
    await authorizer.authorize(projectUser(ADA), 'assistants:read', { assistant_id: 'none' });
    expect(authorize.mock.calls[1]).toMatchObject([{ value: { assistant_id: 'none' } }]);
  });

  it('the code of the project is not asked about; anybody else without a user is refused', async () => {
    const { authorizer, authorize } = authorizerWith(['*'], { kind: 'denied' });
    expect((await read(authorizer, INTERNAL)).scope).toBe(UNRESTRICTED);
    const key = await allowAll().authenticate(requestWith({}));
    await expect(read(authorizer, key)).rejects.toMatchObject({ status: 403 });
    expect(authorize).not.toHaveBeenCalled();
  });
});
