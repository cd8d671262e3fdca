import type { Deployment, DeploymentAtUrl } from '@runyard/contracts';
import { withDatabaseClient } from '@runyard/test-kit';
import { OTHER_WORKSPACE, WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { INTERNAL_TOKEN } from './support/credentials.ts';
import { type Answer, TestPlatform } from './support/platform.ts';

/** The platform has a domain for deployments, and its operator lets deployments claim names in others. */
const settings = {
  DEPLOYMENTS_DOMAIN: 'run.example.net',
  CUSTOM_DOMAINS: `acme.test,example.com,example.net,given.acme.test=${OTHER_WORKSPACE}`,
  REGISTRY_URL: 'https://registry.example.com',
};
let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start(settings);
});
afterAll(() => platform.close());

/** No engine has this image. */
const IMAGE = { image_uri: 'registry.example.com/agent:1.0' };

/** Creates a deployment of an image. */
const createAt = (custom_url: string | undefined, workspace_id?: string): Promise<Answer<Deployment>> =>
  platform.call('POST', '/v2/deployments', {
    body: {
      name: `at-${crypto.randomUUID()}`,
      source: 'external_docker',
      source_config: { custom_url },
      source_revision_config: IMAGE,
    },
    ...(workspace_id && { as: { workspace_id } }),
  });
const patchUrl = (id: string, custom_url: string): Promise<Answer<Deployment>> =>
  platform.call('PATCH', `/v2/deployments/${id}`, { body: { source_config: { custom_url } } });

/** Finds a deployment by its URL, as org-access does. */
const findByUrl = async (url: string) => {
  const headers = { authorization: `Bearer ${INTERNAL_TOKEN}`, 'content-type': 'application/json' };
  const answer = await platform.call<DeploymentAtUrl>('POST', '/internal/deployments/find-by-url', {
    headers,
    body: { url },
  });
  return answer.body.deployment;
};

it('a deployment is shown at the root of its own host, with a unique slug', async () => {
  const body = {
    name: 'Hello',
    source: 'external_docker',
    source_config: {},
    source_revision_config: IMAGE,
  };
  const [one, other] = await Promise.all([
    platform.call<Deployment>('POST', '/v2/deployments', { body }),
    platform.call<Deployment>('POST', '/v2/deployments', { body, as: { workspace_id: OTHER_WORKSPACE } }),
  ]);
  const urls = [one, other].map((each) => each.body.host_url);
  expect(urls).toContain('https://hello.run.example.net');
  expect(new Set(urls).size).toBe(2);
  expect([one, other].map((each) => each.body.source_config.custom_url)).toEqual(urls);
  for (const { body: made } of [one, other]) {
    const slug = (await platform.routeOf(made.id))?.slug;
    expect(made.host_url).toBe(`https://${slug}.run.example.net`);
  }
});

it("a deployment named like the id of another does not get that one's host", async () => {
  const { body: first } = await createAt(undefined);
  const { body: namesake } = await platform.create({ name: first.id });
  expect(namesake.host_url).toMatch(
    /^https:\/\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9a-f]{8}\.run\.example\.net$/,
  );
});

it('every URL that is shown of a deployment may be sent back, and changes nothing', async () => {
  const { body: made } = await platform.create();
  for (const url of [made.host_url as string, `https://agents.example.com/deployments/${made.id}`]) {
    expect((await patchUrl(made.id, url)).body.source_config.custom_url).toBe(made.host_url);
  }
});

it('a custom_url that is the root of an allowed host is routed through the gateway, until it changes', async () => {
  const { status, body: made } = await createAt('https://Chat.acme.test/');
  expect([status, made.host_url]).toEqual([201, 'https://Chat.acme.test']);
  const first = await platform.routeOf(made.id);
  expect(first?.custom_host).toBe('chat.acme.test');

  const moved = await patchUrl(made.id, 'https://talk.acme.test');
  expect(moved.body).toMatchObject({ host_url: 'https://talk.acme.test', latest_revision_id: made.latest_revision_id });
  const second = await platform.routeOf(made.id);
  expect(second?.custom_host).toBe('talk.acme.test');
  expect(second?.version).toBeGreaterThan(first?.version as number);

  // The URL is not the root of a host, so its owner routes it to the gateway.
  const below = await patchUrl(made.id, 'https://talk.acme.test/agents/hello');
  expect(below.body.host_url).toMatch(/^https:\/\/at-.*\.run\.example\.net$/);
  expect((await platform.routeOf(made.id))?.custom_host).toBeNull();
});

it('a host belongs to one deployment of all workspaces, and is free for its workspace after its deletion', async () => {
  const url = 'https://one.acme.test';
  const { body: first } = await createAt(url);
  const refusal = { status: 400, body: { detail: expect.stringContaining("another deployment's: one.acme.test") } };
  expect(await createAt(`${url}:8443`, OTHER_WORKSPACE)).toMatchObject(refusal);
  const { body: second } = await createAt(undefined);
  expect(await patchUrl(second.id, url)).toMatchObject(refusal);
  expect((await patchUrl(first.id, url)).status).toBe(200);
  await platform.call('DELETE', `/v2/deployments/${first.id}`);
  expect((await patchUrl(second.id, url)).status).toBe(200);
});

it('a deployment may claim a host by its name alone, which is shown as it was sent', async () => {
  const name = 'Alone.acme.test';
  const { body: made } = await createAt(name);
  expect(made).toMatchObject({ source_config: { custom_url: name }, host_url: 'https://Alone.acme.test' });
  expect((await platform.routeOf(made.id))?.custom_host).toBe('alone.acme.test');
  for (const custom_url of [name, 'https://Alone.acme.test', 'alone.acme.test', 'other.acme.test'])
    expect((await patchUrl(made.id, custom_url)).body.source_config.custom_url).toBe(custom_url);
  expect((await platform.routeOf(made.id))?.custom_host).toBe('other.acme.test');
  for (const wrong of ['alone.acme.test:8443', 'alone.acme.test/path', '-.acme.test', '//acme.test', 'a b'])
    expect((await patchUrl(made.id, wrong)).status).toBe(400);
});

it('a slug that a workspace had is never given to another workspace', async () => {
  const name = `former-${crypto.randomUUID()}`;
  const body = { name, source: 'external_docker', source_config: {}, source_revision_config: IMAGE };
  const create = (workspace_id: string) =>
    platform.call<Deployment>('POST', '/v2/deployments', { body, as: { workspace_id } });
  const urlOfName = `https://${name}.run.example.net`;
  const first = (await create(WORKSPACE)).body;
  expect(first.host_url).toBe(urlOfName);
  await platform.call('DELETE', `/v2/deployments/${first.id}`);

  const strangers = (await create(OTHER_WORKSPACE)).body;
  expect(strangers.host_url).toBe(`https://${name}-${strangers.id.slice(-8)}.run.example.net`);
  expect((await create(WORKSPACE)).body.host_url).toBe(urlOfName);
});

it('a host that a workspace had is refused to others, after a move and after a deletion', async () => {
  const [moved, deleted] = ['https://before.acme.test', 'https://deleted.acme.test'];
  const refusal = { status: 400, body: { detail: expect.stringContaining('is kept for another workspace') } };
  const { body: first } = await createAt(moved);
  await patchUrl(first.id, deleted);
  expect(await createAt(moved, OTHER_WORKSPACE)).toMatchObject(refusal);
  await platform.call('DELETE', `/v2/deployments/${first.id}`);
  expect(await createAt(deleted, OTHER_WORKSPACE)).toMatchObject(refusal);
  expect([(await createAt(moved)).status, (await createAt(deleted)).status]).toEqual([201, 201]);
});

it('a host that another workspace had is taken where the operator gives it to the workspace', async () => {
  // It was taken when the operator had not given the name to anybody.
  await withDatabaseClient(platform.database.url, (client) =>
    client.query('INSERT INTO deployment_address (kind, name, workspace_id) VALUES ($1, $2, $3)', [
      'host',
      'former.given.acme.test',
      WORKSPACE,
    ]),
  );
  expect((await createAt('https://former.given.acme.test', OTHER_WORKSPACE)).status).toBe(201);
});

it('one of several concurrent deployments gets the host', async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => createAt('https://race.acme.test')));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
});

it.each(['https://agents.example.com', 'https://run.example.net', 'https://registry.example.com'])(
  'no deployment can claim a host of the platform: %s',
  async (url) => {
    const detail = expect.stringContaining("the host of 'source_config.custom_url' is the platform's");
    expect(await createAt(url)).toMatchObject({ status: 400, body: { detail } });
  },
);

it('a host that the operator gives to a workspace is taken by deployments of that workspace alone', async () => {
  const detail = expect.stringContaining("is another workspace's: given.acme.test");
  expect(await createAt('https://given.acme.test')).toMatchObject({ status: 400, body: { detail } });
  expect((await createAt('https://given.acme.test', OTHER_WORKSPACE)).status).toBe(201);
});

it('a deployment is found by each of its own addresses, and by no other', async () => {
  const { body: made } = await createAt('https://tools.acme.test');
  const slug = (await platform.routeOf(made.id))!.slug;
  const found = { deployment_id: made.id, name: made.name, has_custom_auth: false, mount_prefix: null };
  expect(await findByUrl(`https://${slug}.run.example.net/mcp`)).toMatchObject({ ...found, path: '/mcp' });
  expect(await findByUrl('https://tools.acme.test/')).toMatchObject({ ...found, path: '' });
  expect(await findByUrl(`https://agents.example.com/deployments/${made.id.toUpperCase()}/x/y`)).toMatchObject({
    ...found,
    path: '/x/y',
  });
  expect(await findByUrl(`https://agents.example.com/deployments/${crypto.randomUUID()}`)).toBeNull();
  expect(await findByUrl('https://elsewhere.example.org/mcp')).toBeNull();
});

it('a host is not routed any more when the operator removes its domain, or gives it to another workspace', async () => {
  const urls = ['https://kept.acme.test', 'https://moved.acme.test'];
  const [kept, moved] = await Promise.all(urls.map(async (url) => (await createAt(url)).body.id));
  expect((await platform.routeOf(kept!))?.custom_host).toBe('kept.acme.test');
  expect(await findByUrl('https://moved.acme.test')).toMatchObject({ deployment_id: moved });
  settings.CUSTOM_DOMAINS = `moved.acme.test=${OTHER_WORKSPACE},unmoved.acme.test=${WORKSPACE}`;
  await platform.stopService();
  await platform.startService();
  for (const [index, id] of [kept, moved].entries()) {
    expect((await platform.routeOf(id!))?.custom_host).toBeNull();
    expect(await findByUrl(urls[index]!)).toBeNull();
  }
});
