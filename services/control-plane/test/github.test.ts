import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  Deployment,
  GithubDelivery,
  GithubIntegration,
  GithubRepository,
  GithubWebhook,
  Revision,
} from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { LINK_PACKAGES, PROJECT } from '@runyard/test-kit/built-project';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { GitServer, GitServerApi, project } from '@runyard/test-kit/git-servers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { upload } from './support/sources.ts';

let platform: TestPlatform;
let repository: string;

beforeAll(async () => {
  platform = await TestPlatform.start({ OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' }, { hasOwnProcess: true });
  repository = join(platform.folder, 'repository');
  await mkdir(repository);
  for (const [name, content] of Object.entries(PROJECT)) await writeFile(join(repository, name), content);
  git('init', '--quiet', '--initial-branch=main');
  commit('the project');
});
afterAll(() => platform.close());

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  return execFileSync('git', [...identity, '-C', repository, ...args], { encoding: 'utf8' }).trim();
}

function commit(message: string): string {
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', message);
  return git('rev-parse', 'HEAD');
}

/** Creates a deployment. Without a ref there is nothing to build. */
const create = (changes: Record<string, unknown> = {}, source_revision_config: object = {}) =>
  platform.create({
    source: 'github',
    source_config: { repo_url: repository, build_on_push: true, install_command: LINK_PACKAGES, ...changes },
    source_revision_config,
  });

const MAIN = { repo_ref: 'main', langgraph_config_path: 'langgraph.json' };

describe('a private repository', () => {
  const TOKEN = 'a-token-to-read-private-repositories-with';
  const forms = [TOKEN, Buffer.from(`x-access-token:${TOKEN}`).toString('base64')];
  let server: GitServer;
  beforeAll(async () => {
    server = await GitServer.open(platform.folder, TOKEN);
  });
  afterAll(() => server?.close());

  /** Creates a deployment with an integration that has this token; null: without one. */
  async function createPrivate(token: string | null) {
    const body = { name: 'private', url: server.url, token };
    const path = '/v1/integrations/github/install';
    const integration = token && (await platform.call<GithubIntegration>('POST', path, { body })).body.id;
    if (integration) onTestFinished(async () => void (await platform.call('DELETE', `${path}/${integration}`)));
    const changes = { repo_url: `${server.url}/repository`, ...(integration && { integration_id: integration }) };
    return (await create(changes, MAIN)).body;
  }

  it('is built with the token of its integration, which appears in no process, file or log', async () => {
    const exposed = new Set<string>();
    server.onRequest = () => {
      for (const shown of shownByProcesses()) if (forms.some((form) => shown.includes(form))) exposed.add(shown);
    };
    const { id, latest_revision_id } = await createPrivate(TOKEN);
    const revision = await platform.untilStatus(id, latest_revision_id!, 'DEPLOYED');
    expect(revision.source_revision_config).toMatchObject({
      repo_ref: 'main',
      repo_commit_sha: git('rev-parse', 'main'),
    });
    expect((await platform.get(id)).body.source_revision_config).toEqual(revision.source_revision_config);
    expect([...exposed]).toEqual([]);
    for (const text of [await textsBelow(platform.folder), platform.output(), await platform.dump()]) {
      for (const form of forms) expect(text).not.toContain(form);
    }
  });

  it.each([
    ['without a token', null, /cannot be read without a token; name an integration/],
    ['with a wrong token', 'an-old-token-of-somebody', /does not take the token of the integration/],
  ])('%s fails its build, and the message does not contain the token', async (_, token, expected) => {
    const { id, latest_revision_id } = await createPrivate(token);
    const { status_message } = await platform.untilStatus(id, latest_revision_id!, 'BUILD_FAILED');
    expect(status_message).toMatch(expected);
    const said = `${status_message}${await textsBelow(join(platform.folder, 'logs', id))}${platform.output()}`;
    expect(said).not.toMatch(/an-old-token-of-somebody|YW4tb2xkLXRva2Vu|Basic /);
  });
});

describe('the repositories of an integration', () => {
  const INSTALL = '/v1/integrations/github/install';
  const TOKEN = 'a-token-to-list-with';
  let server: GitServerApi;
  beforeAll(async () => {
    server = await GitServerApi.open('gitlab', TOKEN);
    server.repositories = [project(1), project(2, { default_branch: null })];
  });
  afterAll(() => server?.close());

  async function integrate(body: object = {}): Promise<GithubIntegration> {
    const sent = { name: 'acme', url: server.url, token: TOKEN, ...body };
    const { status, body: made } = await platform.call<GithubIntegration>('POST', INSTALL, { body: sent });
    expect(status).toBe(201);
    onTestFinished(async () => void (await platform.call('DELETE', `${INSTALL}/${made.id}`)));
    return made;
  }
  const repos = (id: string, as: object = {}) =>
    platform.call<GithubRepository[]>('GET', `/v1/integrations/github/${id}/repos`, { as });

  it("are listed at both paths, in the form of a deployment's source", async () => {
    const made = await integrate();
    const listed = await repos(made.id);
    expect(listed).toEqual({
      status: 200,
      body: [
        {
          host_integration_id: made.id,
          id: 1,
          name: 'agent-1',
          owner: 'acme/research',
          url: `${server.url}/acme/research/agent-1.git`,
          default_branch: 'main',
        },
      ],
    });
    const asked = server.asked.length;
    expect(await platform.call('GET', `/v1/integrations/forge/github/${made.id}/repos`)).toEqual(listed);
    // The platform remembers the kind of the server.
    expect(server.asked.length).toBe(asked + 1);
    const [forge, plain] = await Promise.all(
      ['/v1/integrations/forge/github/install', INSTALL].map((path) => platform.call<GithubIntegration[]>('GET', path)),
    );
    expect(forge).toEqual(plain);
    expect(forge!.body).toContainEqual(made);
    expect(await platform.dump()).not.toContain(TOKEN);

    const [{ url: repo_url, default_branch: repo_ref }] = listed.body as [GithubRepository];
    const revision = { repo_ref, langgraph_config_path: 'langgraph.json' };
    const { status } = await create({ integration_id: made.id, repo_url, build_on_push: false }, revision);
    expect(status).toBe(201);
  });

  it('are shown only to those who may deploy them in the workspace', async () => {
    const { id } = await integrate({ server_type: 'gitlab' });
    expect((await repos(id, { permissions: ['deployments:read'] })).status).toBe(403);
    const missing = { status: 404, body: { detail: `Integration ID ${id} not found.` } };
    expect(await repos(id, { workspace_id: OTHER_WORKSPACE })).toEqual(missing);
    expect((await repos('nonsense')).status).toBe(422);
  });

  it('are not listed with an invalid token, and the answer says what is wrong', async () => {
    const { id } = await integrate({ token: 'an-old-one' });
    const detail = `The Git server ${server.url} does not take the token of the integration.`;
    expect(await repos(id)).toEqual({ status: 400, body: { detail } });
    expect(platform.output()).not.toContain('an-old-one');
  });

  it('are on a server of a known kind', async () => {
    const body = { name: 'acme', url: server.url, token: TOKEN, server_type: 'sourcehut' };
    expect((await platform.call('POST', INSTALL, { body })).status).toBe(422);
  });
});

/** Returns what every user of this machine can see of its processes; empty without `/proc`. */
function shownByProcesses(): string[] {
  const read = (path: string) => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      return ''; // It has ended.
    }
  };
  const processes = readdirSync('/').includes('proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return processes.flatMap((pid) => [read(`/proc/${pid}/cmdline`), read(`/proc/${pid}/environ`)]);
}

async function textsBelow(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'));
  return (await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))).join(
    '\n',
  );
}

describe('a repository', () => {
  it("without such a branch fails its build with git's message", async () => {
    const { body } = await create({}, { repo_ref: 'nowhere', langgraph_config_path: 'langgraph.json' });
    const failed = await platform.untilStatus(body.id, body.latest_revision_id!, 'BUILD_FAILED');
    expect(failed.status_message).toMatch(/git fetch: fatal: couldn't find remote ref refs\/heads\/nowhere/);
  });

  it.each([
    ['in a private network', { repo_url: 'http://10.0.0.1/acme/agent' }, {}, /may not|not allowed|private|refused/i],
    ['over ssh', { repo_url: 'git@github.com:acme/agent.git' }, {}, /URL is not valid/],
    ['without its URL', { repo_url: null }, {}, /'source_config.repo_url' is required/],
    ['with an option for a branch', {}, { repo_ref: '--upload-pack=x' }, /no branch or tag/],
    ['that builds a tag on push', {}, { repo_ref: 'refs/tags/v1' }, /build_on_push' is for branches/],
  ])('%s is refused', async (_, changes, revisionConfig, expected) => {
    const { status, body } = await create(changes, { langgraph_config_path: 'langgraph.json', ...revisionConfig });
    expect(status).toBe(400);
    expect((body as unknown as { detail: string }).detail).toMatch(expected);
  });
});

describe('a webhook', () => {
  let deployment: Deployment;
  let webhook: GithubWebhook;
  beforeAll(async () => {
    // The branch does not exist: these tests need no build.
    const revisionConfig = { repo_ref: 'feature', langgraph_config_path: 'langgraph.json' };
    deployment = (await create({}, revisionConfig)).body;
    webhook = (await platform.call<GithubWebhook>('GET', `/v2/deployments/${deployment.id}/github-webhook`)).body;
  });

  async function deliver(body: object | string, { secret = webhook.secret, id = deployment.id } = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const signature = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
    const path = `/v1/integrations/github/webhooks/${id}`;
    const answer = await fetch(platform.service.url + path, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature, 'x-github-event': 'push' },
    });
    return { status: answer.status, body: (await answer.json()) as GithubDelivery & { detail?: string } };
  }
  const push = (changes: object = {}) => ({
    ref: 'refs/heads/feature',
    before: 'a'.repeat(40),
    after: crypto.randomUUID(),
    created: false,
    deleted: false,
    repository: { clone_url: repository },
    ...changes,
  });
  const revisions = async () =>
    (await platform.call<{ resources: Revision[] }>('GET', `/v2/deployments/${deployment.id}/revisions`)).body
      .resources;

  it('builds a push to the linked branch, once however often it is delivered', async () => {
    const before = (await revisions()).length;
    const event = push();
    const { status, body } = await deliver(event);
    expect(status).toBe(200);
    const [newest, ...others] = await revisions();
    expect([newest!.id, others.length]).toEqual([body.revision_id, before]);
    expect((await deliver(event)).body).toEqual({ revision_id: null, ignored: 'this push was delivered before' });
    expect(await revisions()).toHaveLength(before + 1);
  });

  it('builds a push to the default branch where the deployment names none', async () => {
    const { id } = (await create({}, { langgraph_config_path: 'langgraph.json' })).body;
    const { secret } = (await platform.call<GithubWebhook>('GET', `/v2/deployments/${id}/github-webhook`)).body;
    const pushTo = (ref: string, default_branch?: string) =>
      deliver(push({ ref, repository: { clone_url: repository, default_branch } }), { secret, id });
    const another = { revision_id: null, ignored: 'this is another branch' };
    expect((await pushTo('refs/heads/feature', 'main')).body).toEqual(another);
    expect((await pushTo('refs/heads/main')).body).toEqual(another);
    const { revision_id } = (await pushTo('refs/heads/main', 'main')).body;
    expect((await platform.get(id)).body.latest_revision_id).toBe(revision_id);
  });

  it('builds a push that is delivered again after its control-plane was killed', async () => {
    const event = push();
    await withDatabaseClient(platform.database.url, async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE revision IN EXCLUSIVE MODE');
      const unheard = deliver(event).catch(() => undefined);
      const waiting = "SELECT 1 FROM pg_locks WHERE relation = 'revision'::regclass AND NOT granted";
      await waitFor(async () => ((await client.query(waiting)).rowCount ?? 0) > 0, {
        what: 'the delivery in the middle',
      });
      await platform.kill();
      await client.query('ROLLBACK');
      await unheard;
    });
    await platform.startService();
    expect((await deliver(event)).body).toEqual({ revision_id: expect.any(String), ignored: null });
  });

  it('still builds the branch after a revision of another source', async () => {
    const object_path = await upload(platform, deployment.id, PROJECT);
    const elsewhere = await platform.call('PATCH', `/v2/deployments/${deployment.id}`, {
      body: {
        revision_source: 'internal_source',
        source_revision_config: { source_tarball_path: object_path, langgraph_config_path: 'langgraph.json' },
      },
    });
    expect(elsewhere.status).toBe(200);
    const { revision_id } = (await deliver(push())).body;
    expect((await revisions())[0]).toMatchObject({
      id: revision_id,
      source: 'github',
      source_revision_config: { repo_ref: 'feature', langgraph_config_path: 'langgraph.json' },
    });
  });

  it.each([
    ['another branch', { ref: 'refs/heads/main' }, 'this is another branch'],
    ['a tag of the name', { ref: 'refs/tags/feature' }, 'this is another branch'],
    ['a new branch', { created: true }, 'a branch or a tag was made or deleted'],
    ['a deleted branch', { deleted: true }, 'a branch or a tag was made or deleted'],
    [
      'another repository',
      { repository: { clone_url: 'https://github.com/acme/other.git' } },
      'this is another repository',
    ],
    ['something else', { ref: undefined, zen: 'Keep it logically awesome.' }, 'this is no push'],
  ])('does nothing for %s', async (_, changes, ignored) => {
    expect(await deliver(push(changes))).toEqual({ status: 200, body: { revision_id: null, ignored } });
  });

  it('refuses deliveries without its signature, and does not reveal what exists', async () => {
    const refusal = { status: 401, body: { detail: 'The signature does not match' } };
    expect(await deliver(push(), { secret: 'a guess' })).toEqual(refusal);
    expect(await deliver(push(), { id: crypto.randomUUID() })).toEqual(refusal);
    expect((await deliver('not JSON')).status).toBe(400);
    const path = `/v2/deployments/${deployment.id}/github-webhook`;
    const replaced = await platform.call<GithubWebhook>('POST', path);
    expect(await deliver(push())).toEqual(refusal);
    webhook = replaced.body;
    expect((await deliver(push())).status).toBe(200);
    expect(await platform.dump()).not.toContain(webhook.secret);
  });

  it('is shown to those who may change the deployment', async () => {
    const path = `/v2/deployments/${deployment.id}/github-webhook`;
    const reader = { as: { permissions: ['deployments:read'] } };
    expect((await platform.call('GET', path, reader)).status).toBe(403);
    expect((await platform.call('GET', path, { as: { workspace_id: OTHER_WORKSPACE } })).status).toBe(404);
    const { body } = await platform.create();
    const answer = await platform.call('GET', `/v2/deployments/${body.id}/github-webhook`);
    expect(answer.body).toEqual({ detail: "Webhooks are only available for 'github' source deployments." });
  });
});

describe('an integration', () => {
  const path = '/v1/integrations/github/install';
  const body = { name: 'acme', url: 'https://github.com', token: 'a token to read with' };

  it("keeps a token for the workspace's private repositories of one server", async () => {
    const made = await platform.call<GithubIntegration>('POST', path, { body });
    expect(made).toMatchObject({ status: 201, body: { name: 'acme', installation_id: expect.any(Number) } });
    expect((await platform.call('GET', path)).body).toEqual([made.body]);
    expect((await platform.call('GET', path, { as: { workspace_id: OTHER_WORKSPACE } })).body).toEqual([]);
    expect(await platform.dump()).not.toContain(body.token);

    const integration_id = made.body.id;
    const elsewhere = await create({ repo_url: 'https://git.example.com/acme/agent', integration_id });
    expect(elsewhere.body).toMatchObject({
      detail: expect.stringMatching(/is for repositories of https:\/\/github.com/),
    });
    // The integration is right there, and only the path is missing: so nothing is fetched.
    const pathless = await create({ repo_url: 'https://github.com/acme/agent', integration_id });
    expect(pathless.body).toMatchObject({ detail: expect.stringMatching(/langgraph_config_path' is required/) });

    expect((await platform.call('DELETE', `${path}/${integration_id}`)).status).toBe(204);
    expect((await platform.call('DELETE', `${path}/${integration_id}`)).status).toBe(404);
    const gone = await create({ repo_url: 'https://github.com/acme/agent', integration_id });
    expect(gone.body).toMatchObject({ detail: expect.stringMatching(/there is no integration/) });
  });

  it('is created with a token only, because there is no application with picker sessions', async () => {
    const session = `/v2/integrations/forge-github/picker-sessions/${crypto.randomUUID()}/selection`;
    for (const method of ['GET', 'POST', 'PUT']) {
      const answer = await platform.call(method, session, method === 'GET' ? {} : { body: { integration_id: null } });
      expect(answer).toEqual({ status: 404, body: { detail: 'Not Found' } });
    }
  });

  it('is created once, however often its request is repeated', async () => {
    const headers = { ...(await platform.callers.headers()), 'idempotency-key': 'the same' };
    const [one, two] = [
      await platform.call('POST', path, { body, headers }),
      await platform.call('POST', path, { body, headers }),
    ];
    expect([one.status, two]).toEqual([201, one]);
  });

  it.each(['https://github.com/acme', 'http://10.0.0.1', '/srv', 'nonsense'])(
    'is refused for the URL %s',
    async (url) => {
      expect((await platform.call('POST', path, { body: { ...body, url } })).status).toBe(400);
    },
  );
});
