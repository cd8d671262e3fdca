import { createServer, type IncomingMessage, request } from 'node:http';
import { defineOperation, PRINCIPAL_HEADER } from '@runyard/contracts';
import {
  type AppRoute,
  EXCHANGE_HEADER,
  encodeUser,
  LOOPBACK_HEADER,
  UNKNOWN_USER,
  USER_HEADER,
} from '@runyard/host-protocol';
import {
  ANY_ORIGIN,
  bind,
  createApp,
  createContext,
  INTERNAL,
  listen,
  ok,
  type Principal,
  type PrincipalVerifier,
  requireOperationPermission,
  UnauthorizedError,
  withMiddleware,
} from '@runyard/service-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectUser } from '../auth/user-caller.ts';
import type { CustomRoutePolicy } from '../http/custom-routes.ts';
import { ProjectAppProxy, type ProjectAppProxyOptions } from './project-app-proxy.ts';
import { ProjectLoopback } from './project-loopback.ts';

const common = { method: 'get' as const, summary: 'One.', tags: ['x'], responses: { 200: { description: 'It.' } } };
const createThing = defineOperation({
  ...common,
  operationId: 'createThing',
  path: '/things',
  access: 'principal',
  permission: 'runs:create',
});
const open = defineOperation({ ...common, operationId: 'open', path: '/open', access: 'public' });

const reader: Principal = { ...INTERNAL, identity: 'reader', permissions: ['runs:read'] };
const writer: Principal = { ...INTERNAL, identity: 'writer', permissions: ['runs:create'] };
const ADA = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: [] };
/** Authenticates callers by a header. */
const verifier: PrincipalVerifier = {
  async authenticate({ headers }) {
    if (headers.caller === 'reader') return reader;
    if (headers.caller === 'writer') return writer;
    if (headers.caller === 'ada') return projectUser(ADA);
    if (headers[PRINCIPAL_HEADER] === 'a good one') return { ...writer, identity: 'platform' };
    throw new UnauthorizedError('Missing authentication headers', { code: 'principal_token_missing' });
  },
};

let loopback: ProjectLoopback;
let close: (() => unknown)[];
/** Paths that the project's app was shown. */
let shown: string[];
/** Patterns of the app's routes and middleware. */
let paths: string[];
/** The app's routes alone. */
let routes: AppRoute[] | null;
let passed: string[];
/** The callers of websockets who are asked about again. */
let watched: string[];

beforeEach(async () => {
  loopback = await ProjectLoopback.open();
  watched = [];
  close = [() => loopback.close()];
  [shown, passed] = [[], []];
  paths = ['/things', '/open', '/mine'];
  routes = null;
});
afterEach(async () => {
  for (const end of close.reverse()) await end();
});

/** Serves an app that passes everything on but `/mine` and `/custom/…`, as the graph host does. */
async function serveApp(_source: unknown, socketPath: string) {
  const server = createServer((req, res) => {
    shown.push(req.url!);
    if (req.url === '/mine') {
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"mine":true}');
      return;
    }
    if (req.url!.startsWith('/custom') || req.url!.toLowerCase().includes('noauth')) {
      const user = req.headers[USER_HEADER] as string | undefined;
      const told = user === undefined ? null : JSON.parse(Buffer.from(user, 'base64url').toString());
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ user: told?.identity ?? null }));
      return;
    }
    const name = String(req.headers[EXCHANGE_HEADER]);
    passed.push(name);
    const { socketPath: back, token } = loopback.endpoint;
    // Middleware turns a cookie into what says who calls, and sees no header of the platform.
    const { cookie, caller = cookie?.replace('caller=', ''), ...others } = req.headers;
    expect(Object.keys(others)).not.toContain(PRINCIPAL_HEADER);
    const headers = { ...(caller && { caller }), [EXCHANGE_HEADER]: name, [LOOPBACK_HEADER]: token };
    // Middleware may send a request on to another path.
    const path = req.url!.replace('/rewritten', '/things');
    request({ socketPath: back, path, headers }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(res);
    }).end();
  });
  close.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return { paths: [...paths], routes, openApi: null, hasWebSockets: false };
}

let admitWebSocket: ProjectAppProxy['admitWebSocket'];

async function start({
  authFirst = false,
  authorizer = undefined as ProjectAppProxyOptions['authorizer'],
  customRoutes = 'authenticated' as CustomRoutePolicy,
} = {}): Promise<string> {
  const context = createContext('test', { LOG_LEVEL: 'silent', processMetrics: false });
  const principal = loopback.wrapVerifier(verifier);
  const operations = withMiddleware(
    [
      bind(createThing, ({ caller }) => ok({ caller: caller.identity })),
      bind(open, () => ok({ open: true })),
      bind({ ...createThing, operationId: 'aside', path: '/aside' }, () => ok({ aside: true })),
    ],
    [requireOperationPermission],
  );
  const projectApp = new ProjectAppProxy({
    source: { file: '/app.ts', symbol: 'app' },
    host: { requireRunning: async () => host },
    loopback,
    principal,
    operations: operations.map(({ operation }) => operation),
    authFirst,
    authorizer,
    customRoutes,
    cors: ANY_ORIGIN,
    rights: { watchCall: ({ caller }) => void watched.push(caller.identity) },
    bodyLimitBytes: 1000,
  });
  await projectApp.start();
  admitWebSocket = projectApp.admitWebSocket;
  const app = createApp({ context, principal, isInner: loopback.isInner, before: [projectApp.handler], operations });
  loopback.serve(app);
  const { url } = await listen(app, { host: '127.0.0.1', port: 0, context, drainMs: 100 });
  close.push(
    () => projectApp.close(),
    () => context.lifecycle.stop('the test is over'),
  );
  return url;
}
const host = { serveApp };

async function call(url: string, headers: Record<string, string> = {}): Promise<unknown[]> {
  const response = await fetch(url, { headers });
  return [response.status, await response.json()];
}

it('the app never sees strangers: they are refused, or answered by the server on public paths', async () => {
  const url = await start();
  for (const path of ['/mine', '/things']) {
    expect(await call(url + path)).toEqual([401, { detail: 'Missing authentication headers' }]);
  }
  expect(await call(`${url}/open`)).toEqual([200, { open: true }]);
  expect(shown).toEqual([]);
});

it('the app passes requests on as those of their callers, and gets only those it may have routes for', async () => {
  const url = await start();
  expect(await call(`${url}/mine`, { caller: 'reader' })).toEqual([200, { mine: true }]);
  expect(await call(`${url}/things`, { caller: 'writer' })).toEqual([200, { caller: 'writer' }]);
  expect(await call(`${url}/things`, { caller: 'reader' })).toMatchObject([403, {}]);
  expect(await call(`${url}/aside`, { caller: 'writer' })).toEqual([200, { aside: true }]);
  expect(shown).toEqual(['/mine', '/things', '/things']);
});

it('the server checks the role of a caller before the app does, when configured so', async () => {
  const url = await start({ authFirst: true });
  expect(await call(`${url}/things`, { caller: 'reader' })).toMatchObject([403, {}]);
  expect(shown).toEqual([]);
  expect(await call(`${url}/things`, { caller: 'writer' })).toEqual([200, { caller: 'writer' }]);
});

it('a page of another origin opens no websocket of the app with what its browser adds by itself', async () => {
  await start();
  const from = (origin: string) => {
    const headers = { host: 'agents.example.com', cookie: 'session=of-bob', caller: 'reader', origin };
    return admitWebSocket({ method: 'GET', url: '/mine', headers } as unknown as IncomingMessage);
  };
  await expect(from('https://evil.example')).rejects.toMatchObject({ status: 403, code: 'websocket_origin_refused' });
  expect(await from('https://agents.example.com')).toMatchObject({ socketPath: expect.any(String) });
});

it('the user of a websocket is asked about again as long as it is open', async () => {
  await start();
  const headers = { host: 'agents.example.com', caller: 'ada' };
  await admitWebSocket({ method: 'GET', url: '/mine', headers } as unknown as IncomingMessage);
  expect(watched).toEqual(['ada']);
});

it('a request is passed on once, and never under a made-up name', async () => {
  const url = await start();
  await call(`${url}/things`, { caller: 'writer' });
  const { socketPath, token } = loopback.endpoint;
  for (const name of [passed[0]!, 'made-up']) {
    const headers = { [LOOPBACK_HEADER]: token, [EXCHANGE_HEADER]: name };
    const answer = await new Promise<{ statusCode?: number }>((resolve, reject) => {
      request({ socketPath, path: '/things', headers }, (response) => resolve(response.resume()))
        .on('error', reject)
        .end();
    });
    expect(answer.statusCode).toBe(403);
  }
});

it('code beside a worker is known by its token, and no other is trusted', async () => {
  const url = await start();
  expect(await call(`${url}/things`, { [LOOPBACK_HEADER]: loopback.workerToken })).toEqual([200, { caller: '' }]);
  for (const token of ['', 'guess', loopback.endpoint.token]) {
    expect(await call(`${url}/things`, { [LOOPBACK_HEADER]: token, caller: 'writer' })).toMatchObject([401, {}]);
  }
});

describe('with an auth handler of the project', () => {
  const authorizer = {
    authorize: async <Value>(_caller: Principal, _event: string, value: Value) => ({ scope: [{}], value }),
  };
  beforeEach(() => {
    paths = ['*'];
  });

  it('the app finds the user, whom nobody can forge', async () => {
    const url = await start({ authorizer });
    const forged = { [USER_HEADER]: encodeUser({ ...ADA, identity: 'bob' }) };
    expect(await call(`${url}/custom/who`, { caller: 'ada', ...forged })).toEqual([200, { user: 'ada' }]);
    expect(await call(`${url}/custom/who`, { caller: 'writer', ...forged })).toEqual([200, { user: null }]);
    expect(await call(`${url}/custom/who`, forged)).toMatchObject([401, {}]);
  });

  describe('middleware', () => {
    beforeEach(() => {
      routes = [
        { method: 'GET', path: '/mine' },
        { method: 'POST', path: '/things' },
      ];
    });

    it('sees requests for the server before anybody asks who calls, and the server asks about what it passes on', async () => {
      const url = await start({ authorizer });
      expect(await call(`${url}/things`)).toMatchObject([401, {}]);
      expect(await call(`${url}/things`, { cookie: 'caller=writer' })).toEqual([200, { caller: 'writer' }]);
      expect(await call(`${url}/things`, { caller: 'reader' })).toMatchObject([403, {}]);
      expect(shown).toEqual(['/things', '/things', '/things']);
    });

    it('passes callers of the platform on, whose proof it does not see', async () => {
      const url = await start({ authorizer });
      expect(await call(`${url}/things`, { [PRINCIPAL_HEADER]: 'a good one' })).toEqual([200, { caller: 'platform' }]);
    });

    it('sees callers alone with auth_first, without an auth handler, and where routes of the app may answer', async () => {
      const strangers = async (url: string) => expect((await call(`${url}/things`))[0]).toBe(401);
      await strangers(await start({ authorizer, authFirst: true }));
      await strangers(await start());
      routes = [{ method: 'ALL', path: '/things' }];
      await strangers(await start({ authorizer }));
      routes = null;
      await strangers(await start({ authorizer }));
      expect(shown).toEqual([]);
    });

    it('does not see strangers at routes of the app', async () => {
      expect(await call(`${await start({ authorizer })}/mine`)).toMatchObject([401, {}]);
      expect(shown).toEqual([]);
    });
  });

  it('an open route is called by anybody, and what the app passes on is authenticated anew', async () => {
    const url = await start({ authorizer, customRoutes: 'open' });
    expect(await call(`${url}/custom/who`)).toEqual([200, { user: null }]);
    expect(await call(`${url}/custom/who`, { caller: 'ada' })).toEqual([200, { user: null }]);
    expect(await call(`${url}/rewritten`)).toMatchObject([401, {}]);
    expect(await call(`${url}/rewritten`, { caller: 'reader' })).toMatchObject([403, {}]);
    expect(await call(`${url}/rewritten`, { caller: 'writer' })).toEqual([200, { caller: 'writer' }]);
    expect(await call(`${url}/things`)).toMatchObject([401, {}]);
  });

  it('/noauth alone needs no user, and no other spelling of it', async () => {
    const url = await start({ authorizer });
    for (const path of ['/noauth', '/noauth?a=1']) expect(await call(url + path)).toEqual([200, { user: null }]);
    const others = ['/noauth/', '/noauth/x', '/x/noauth', '/NOAUTH', '/noAuth', '/%6eoauth', '/noauth%2f', '//noauth'];
    for (const path of [...others, '/noauth;a', '/noauth%3fa', '/noauthx', '/custom/../noauth/.']) {
      expect([path, (await call(url + path))[0]]).toEqual([path, 401]);
    }
  });

  it('without an auth handler /noauth and a setting that opens routes open nothing', async () => {
    const url = await start({ customRoutes: 'open' });
    for (const path of ['/noauth', '/custom/who']) expect(await call(url + path)).toMatchObject([401, {}]);
  });

  it('a worker that claims to be the project is not a stranger on an open route', async () => {
    const url = await start({ authorizer, customRoutes: 'open' });
    const own = { [LOOPBACK_HEADER]: loopback.workerToken };
    expect(await call(`${url}/rewritten`, own)).toEqual([200, { caller: '' }]);
    expect(await call(`${url}/rewritten`, { [LOOPBACK_HEADER]: 'guess' })).toMatchObject([401, {}]);
  });

  it.each([
    ['open', null],
    ['authenticated', 'ada'],
  ] as const)(
    'a request of the project for a user is as from outside where routes are %s',
    async (customRoutes, user) => {
      loopback = await ProjectLoopback.open(undefined, ({ headers }) => headers.caller !== undefined);
      close.push(() => loopback.close());
      const url = await start({ authorizer, customRoutes });
      const own = { [LOOPBACK_HEADER]: loopback.workerToken, caller: 'ada' };
      expect(await call(`${url}/custom/who`, own)).toEqual([200, { user }]);
    },
  );

  it('code of the project that says it knows no user has no rights where there are users, and all where there are none', async () => {
    const own = () => ({ [LOOPBACK_HEADER]: loopback.workerToken, [USER_HEADER]: UNKNOWN_USER });
    const withoutUsers = await start({});
    expect((await call(`${withoutUsers}/rewritten`, own()))[0]).toBe(200);
    loopback = await ProjectLoopback.open(undefined, () => false);
    close.push(() => loopback.close());
    const withUsers = await start({ authorizer, customRoutes: 'open' });
    expect((await call(`${withUsers}/rewritten`, own()))[0]).toBe(401);
  });
});
