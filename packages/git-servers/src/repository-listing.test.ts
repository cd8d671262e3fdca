import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GitServerType } from '@runyard/contracts';
import { OutboundClient, OutboundPolicy } from '@runyard/outbound';
import type { AppError } from '@runyard/service-kit';
import { GitServerApi, json, project, repository } from '@runyard/test-kit/git-servers';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { RepositoryListing } from './repository-listing.ts';
import { possibleTypes, SERVER_APIS } from './server-apis.ts';

const outbound = new OutboundClient(new OutboundPolicy({ subject: 'Repository', loopback: true }));
afterAll(() => outbound.close());
const listing = new RepositoryListing(outbound);
const never = new AbortController().signal;

async function open(type: GitServerType, token = 'a-token'): Promise<GitServerApi> {
  const api = await GitServerApi.open(type, token);
  onTestFinished(() => api.close());
  return api;
}

const list = ({ url }: GitServerApi, { token = 'a-token', type = null as GitServerType | null } = {}) =>
  listing.list({ url, type, token }, never);
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    ({ status, message, headers }: AppError) => ({ status, message, headers }),
  );
const numbers = (length: number) => Array.from({ length }, (_, index) => index + 1);

describe('the repositories of a server', () => {
  it.each(['github', 'gitea'] as const)('like %s are all found, on any number of pages', async (type) => {
    const api = await open(type);
    api.repositories = numbers(120).map((id) => repository(id));
    const found = await list(api);
    expect(found.type).toBe(type);
    expect(found.repositories.map(({ id }) => id)).toEqual(numbers(120));
    expect(found.repositories[0]).toEqual({
      id: 1,
      name: 'agent-1',
      owner: 'acme',
      cloneUrl: 'https://git.example.com/acme/agent-1.git',
      defaultBranch: 'main',
    });
  });

  it('of GitLab have their path as name, and all groups above as owner', async () => {
    const api = await open('gitlab');
    api.repositories = [...numbers(110).map((id) => project(id)), project(111, { default_branch: null })];
    const { type, repositories } = await list(api);
    expect({ type, length: repositories.length }).toEqual({ type: 'gitlab', length: 111 });
    expect(repositories[0]).toEqual({
      id: 1,
      name: 'agent-1',
      owner: 'acme/research',
      cloneUrl: 'https://git.example.com/acme/research/agent-1.git',
      defaultBranch: 'main',
    });
    expect(repositories.at(-1)).toMatchObject({ defaultBranch: null });
  });

  it('are those of the installation for an installation token', async () => {
    const api = await open('github', 'ghs_an-installation');
    api.repositories = [repository(7)];
    const { repositories } = await list(api, { token: 'ghs_an-installation' });
    expect(repositories.map(({ id }) => id)).toEqual([7]);
    expect(api.asked.at(-1)).toBe('/api/v3/installation/repositories?per_page=100&page=1');
  });

  it("are requested without trying APIs when the server's kind is known", async () => {
    const api = await open('gitlab');
    await list(api, { type: 'gitlab' });
    expect(api.asked).toHaveLength(1);
    expect(await failure(list(api, { type: 'gitea' }))).toMatchObject({ status: 400 });
  });

  it('are a thousand at most, even if the server always announces another page', async () => {
    const api = await open('github');
    api.repositories = numbers(1_250).map((id) => repository(id));
    expect((await list(api)).repositories.map(({ id }) => id)).toEqual(numbers(1_000));
    const endless = await open('gitea');
    endless.instead = (_, res) => json(res.setHeader('link', '</>; rel="next"'), 200, [repository(1)]);
    expect((await list(endless)).repositories).toHaveLength(1);
    expect(endless.asked).toHaveLength(20);
  });
});

describe('a Git server', () => {
  const page = (_: IncomingMessage, res: ServerResponse) =>
    res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
  it.each([
    ['has none of the known APIs', page, 400, 'does not answer as one of GitHub, Gitea, Forgejo or GitLab'],
    ['redirects', (_, res) => res.writeHead(302, { location: 'https://elsewhere.example' }).end(), 400, 'as one of'],
    [
      'forbids the listing',
      (_, res) => json(res, 403, { message: 'scope' }),
      400,
      'does not let the token of the integration',
    ],
    ['answers 503', (_, res) => res.writeHead(503).end(), 502, 'answers with 503'],
    ['hangs up', (_, res) => res.destroy(), 502, 'cannot be reached'],
    [
      'sends half an answer',
      (_, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('[{'),
      502,
      'no sense',
    ],
    ['sends something else', (_, res) => json(res, 200, [{ id: 'one' }]), 502, 'no sense'],
    ['limits the rate', (_, res) => json(res.setHeader('retry-after', '7'), 429, {}), 429, 'no more requests for now'],
    ['has no requests left', (_, res) => json(res.setHeader('x-ratelimit-remaining', '0'), 403, {}), 429, 'no more'],
  ] as [string, (req: IncomingMessage, res: ServerResponse) => void, number, string][])(
    'that %s causes an error that says so',
    async (_, instead, status, message) => {
      const api = await open('gitea');
      api.instead = instead;
      const failed = await failure(list(api));
      expect(failed).toMatchObject({ status, message: expect.stringContaining(message) });
      expect(failed!.message).not.toContain('a-token');
      if (status === 429) expect(failed!.headers['retry-after']).toMatch(/^(7|60)$/);
    },
  );

  it("that requires another token causes an error about the integration's token", async () => {
    const refused = { status: 400, message: expect.stringContaining('does not take the token') };
    for (const token of ['another', 'a\ntoken', '密']) {
      expect(await failure(list(await open('github'), { token }))).toMatchObject(refused);
    }
  });

  it('at a forbidden address is refused', async () => {
    const server = { url: 'http://169.254.169.254', type: null, token: 'a-token' };
    expect(await failure(listing.list(server, never))).toMatchObject({ status: 400 });
  });

  it('of GitHub itself has its API at another host', () => {
    const at = (server: string) => SERVER_APIS.github.pageUrl(server, 'a-token', 2);
    const rest = 'user/repos?sort=pushed&per_page=100&page=2';
    expect(at('https://github.com')).toBe(`https://api.github.com/${rest}`);
    expect(at('https://acme.ghe.com')).toBe(`https://api.acme.ghe.com/${rest}`);
    expect(at('https://git.example.com')).toBe(`https://git.example.com/api/v3/${rest}`);
    expect([possibleTypes('https://github.com'), possibleTypes('https://git.example.com')]).toEqual([
      ['github'],
      ['gitea', 'gitlab', 'github'],
    ]);
  });
});
