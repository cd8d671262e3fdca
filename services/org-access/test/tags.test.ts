import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import {
  type DeploymentCountRequest,
  DeploymentDeleted,
  type ResourceTag,
  type TaggedResources,
  type Tagging,
  type TagKey,
  type TagKeyWithValues,
  type TagValue,
  type Workspace,
} from '@runyard/contracts';
import { createEventBus, makeEvent } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestOrgAccess } from './support/platform.ts';

const CURRENT = '/api/v1/workspaces/current';
const MISSING = '00000000-0000-4000-8000-000000000000';

/** Knows deployments in place of control-plane. */
const controlPlane = {
  deployments: new Set<string>(),
  asked: [] as string[],
  server: createServer(async (request, response) => {
    const { deployment_id } = (await json(request)) as DeploymentCountRequest;
    controlPlane.asked.push(deployment_id!);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ count: controlPlane.deployments.has(deployment_id!) ? 1 : 0 }));
  }),
};

let platform: TestOrgAccess;
let other: Workspace;
beforeAll(async () => {
  await new Promise<void>((resolve) => controlPlane.server.listen(0, '127.0.0.1', resolve));
  const { port } = controlPlane.server.address() as AddressInfo;
  platform = await TestOrgAccess.start({ environment: { CONTROL_PLANE_URL: `http://127.0.0.1:${port}` } });
  other = (await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Other' })).body;
});
afterAll(async () => {
  await platform?.close();
  controlPlane.server.close();
});

const inOther = <Body>(method: string, path: string, body?: unknown) =>
  platform.call<Body>(platform.bootstrap.api_key, method, path, body, other.id);

async function make<Body>(path: string, body: unknown): Promise<Body> {
  const answer = await platform.asAdmin<Body>('POST', CURRENT + path, body);
  expect(answer, path).toMatchObject({ status: 200 });
  return answer.body;
}

async function makeTag(key: string = randomUUID(), value = 'one') {
  const tagKey = await make<TagKey>('/tag-keys', { key, description: null });
  const tagValue = await make<TagValue>(`/tag-keys/${tagKey.id}/tag-values`, { value, description: null });
  return { tagKey, tagValue };
}

const putOn = (tagValue: TagValue, resourceId: string) =>
  make<Tagging>('/taggings', {
    tag_value_id: tagValue.id,
    resource_type: 'deployment',
    resource_id: resourceId,
    id: '',
    created_at: '',
  });
const tagsOf = async (resourceId: string) =>
  (
    await platform.asAdmin<ResourceTag[]>(
      'GET',
      `${CURRENT}/tags/resource?resource_id=${resourceId}&resource_type=deployment`,
    )
  ).body;

describe('tags', () => {
  it('are in every new workspace by two keys, Application and Environment', async () => {
    const ours = await platform.asAdmin<TagKeyWithValues[]>('GET', `${CURRENT}/tags`);
    expect(ours.body.map(({ key, values }) => ({ key, values }))).toEqual([
      { key: 'Application', values: [] },
      { key: 'Environment', values: [] },
    ]);
    const theirs = await inOther<TagKey[]>('GET', `${CURRENT}/tag-keys`);
    expect(theirs.body.map(({ key }) => key)).toEqual(['Application', 'Environment']);
  });

  it.each([null, '', ' Ümlaut & more '])(
    'return the description %o as it was sent, and clear it by null',
    async (text) => {
      const key = ` ${randomUUID()} É`;
      const created = await make<TagKey>('/tag-keys', { key, description: text });
      expect(created).toMatchObject({ key, description: text });
      const path = `${CURRENT}/tag-keys/${created.id}`;
      expect((await platform.asAdmin('GET', path)).body).toEqual(created);
      expect((await platform.asAdmin('PATCH', path, { key })).body).toMatchObject({ description: text });
      expect((await platform.asAdmin('PATCH', path, { key: `${key}2`, description: null })).body).toEqual({
        ...created,
        key: `${key}2`,
        description: null,
        updated_at: expect.any(String),
      });
      const value = await make<TagValue>(`/tag-keys/${created.id}/tag-values`, { value: key, description: text });
      expect(value).toMatchObject({ tag_key_id: created.id, value: key, description: text });
      const valuePath = `${path}/tag-values/${value.id}`;
      expect((await platform.asAdmin('GET', valuePath)).body).toEqual(value);
      expect((await platform.asAdmin<TagValue[]>('GET', `${path}/tag-values`)).body).toEqual([value]);
      expect((await platform.asAdmin('PATCH', valuePath, { value: 'x', description: null })).body).toMatchObject({
        value: 'x',
        description: null,
      });
    },
  );

  it('of a resource are its values with its taggings, and go with their key', async () => {
    const { tagKey, tagValue } = await makeTag();
    const resourceId = randomUUID();
    const tagging = await putOn(tagValue, resourceId);
    expect(tagging).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tag_value_id: tagValue.id,
      resource_type: 'deployment',
      resource_id: resourceId,
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await tagsOf(resourceId)).toEqual([{ ...tagKey, values: [{ ...tagValue, taggings: [tagging] }] }]);
    expect((await platform.asAdmin('GET', `${CURRENT}/taggings?tag_value_id=${tagValue.id}`)).body).toEqual([tagging]);
    await platform.asAdmin('DELETE', `${CURRENT}/tag-keys/${tagKey.id}`);
    expect(await tagsOf(resourceId)).toEqual([]);
    expect((await platform.asAdmin('DELETE', `${CURRENT}/taggings/${tagging.id}`)).status).toBe(404);
  });

  it('exist once: of equal creations at once one succeeds, the others are 409 and not worth repeating', async () => {
    const key = randomUUID();
    const create = () => platform.asAdmin<TagKey>('POST', `${CURRENT}/tag-keys`, { key });
    const answers = await Promise.all(Array.from({ length: 5 }, create));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    const { token } = (await platform.verify(platform.bootstrap.api_key)).body;
    const refused = await fetch(`${platform.service.url}${CURRENT}/tag-keys`, {
      method: 'POST',
      headers: { 'x-runyard-principal': token, 'content-type': 'application/json' },
      body: JSON.stringify({ key }),
    });
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false']);
    const { tagValue } = await makeTag();
    const resourceId = randomUUID();
    await putOn(tagValue, resourceId);
    const again = { tag_value_id: tagValue.id, resource_type: 'deployment', resource_id: resourceId };
    expect((await platform.asAdmin('POST', `${CURRENT}/taggings`, again)).status).toBe(409);
  });

  it('of one workspace look in another as if they did not exist', async () => {
    const { tagKey, tagValue } = await makeTag();
    const tagging = await putOn(tagValue, randomUUID());
    const key = `${CURRENT}/tag-keys/${tagKey.id}`;
    for (const [method, path, body] of [
      ['GET', key],
      ['PATCH', key, { description: 'mine' }],
      ['DELETE', key],
      ['GET', `${key}/tag-values`],
      ['POST', `${key}/tag-values`, { value: 'mine' }],
      ['GET', `${key}/tag-values/${tagValue.id}`],
      ['PATCH', `${key}/tag-values/${tagValue.id}`, { value: 'mine' }],
      ['DELETE', `${key}/tag-values/${tagValue.id}`],
      ['DELETE', `${CURRENT}/taggings/${tagging.id}`],
      [
        'POST',
        `${CURRENT}/taggings`,
        { tag_value_id: tagValue.id, resource_type: 'deployment', resource_id: randomUUID() },
      ],
    ] as const) {
      const theirs = await inOther<{ detail: string }>(method, path, body);
      const missing = await inOther(method, path.replace(tagKey.id, MISSING).replace(tagging.id, MISSING), body);
      expect(theirs, `${method} ${path}`).toMatchObject({ status: 404 });
      expect(theirs).toEqual(missing);
    }
    expect((await inOther('GET', `${CURRENT}/taggings?tag_value_id=${tagValue.id}`)).body).toEqual([]);
    expect((await platform.asAdmin('GET', key)).body).toEqual(tagKey);
  });

  it('find what has one of the values of each key, for control-plane', async () => {
    const [environment, team] = [await makeTag('stage', 'production'), await makeTag('team', 'red')];
    const staging = await make<TagValue>(`/tag-keys/${environment.tagKey.id}/tag-values`, { value: 'staging' });
    const [both, one] = [randomUUID(), randomUUID()];
    await putOn(environment.tagValue, both);
    await putOn(team.tagValue, both);
    await putOn(staging, one);
    const find = async (values: string[], workspaceId = platform.bootstrap.workspace_id) => {
      const request = {
        organization_id: platform.bootstrap.organization_id,
        workspace_id: workspaceId,
        resource_type: 'deployment',
        tag_value_ids: values,
      };
      const { body } = await platform.internal<TaggedResources>('/internal/tagged-resources', request);
      return body.resource_ids.sort();
    };
    expect(await find([environment.tagValue.id, staging.id])).toEqual([both, one].sort());
    expect(await find([environment.tagValue.id, staging.id, team.tagValue.id])).toEqual([both]);
    expect(await find([staging.id, team.tagValue.id])).toEqual([]);
    expect(await find([environment.tagValue.id, MISSING])).toEqual([]);
    expect(await find([])).toEqual([]);
    expect(await find([environment.tagValue.id], other.id)).toEqual([]);
  });

  it('of a deployment go when control-plane has it no more, and not because an event says so', async () => {
    const { tagValue } = await makeTag();
    const [kept, deleted] = [randomUUID(), randomUUID()];
    controlPlane.deployments.add(kept);
    for (const id of [kept, deleted]) await putOn(tagValue, id);
    const { organization_id, workspace_id } = platform.bootstrap;
    const deletionOf = (deployment_id: string) => {
      const data = { deployment_id, workspace_id, organization_id, version: 2 };
      return { key: 'one', event: makeEvent(DeploymentDeleted, { source: '/test', subject: deployment_id, data }) };
    };
    const bus = createEventBus(platform.bus, { logger: silentLogger });
    await bus.publish('deployments', [deletionOf(kept), deletionOf(deleted)]);
    await expect.poll(() => tagsOf(deleted)).toEqual([]);
    await bus.close();
    expect(controlPlane.asked).toEqual([kept, deleted]);
    expect(await tagsOf(kept)).toHaveLength(1);
  });

  it.each([
    ['/tag-keys', { key: '' }],
    ['/tag-keys', { key: 'x'.repeat(256) }],
    ['/tag-keys', { key: 5 }],
    ['/taggings', { tag_value_id: MISSING, resource_type: 'nothing', resource_id: MISSING }],
    ['/taggings', { tag_value_id: 'x', resource_type: 'deployment', resource_id: MISSING }],
  ])('are refused with 422 at %s for %j', async (path, body) => {
    expect((await platform.asAdmin('POST', CURRENT + path, body)).status).toBe(422);
  });

  it('may hold any text, also a NUL', async () => {
    expect((await platform.asAdmin('POST', `${CURRENT}/tag-keys`, { key: 'a\u0000b' })).status).toBeLessThan(500);
  });
});
