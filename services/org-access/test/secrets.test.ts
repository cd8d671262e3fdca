import type { WorkspaceSecretName, WorkspaceSecretValues } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestMembers } from './support/members.ts';
import { TestOrgAccess } from './support/platform.ts';

const SECRETS = '/api/v1/workspaces/current/secrets';

let platform: TestOrgAccess;
let people: TestMembers;
let workspaceId: string;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  people = await TestMembers.open(platform);
  workspaceId = platform.bootstrap.workspace_id;
});
afterAll(async () => {
  await people?.close();
  await platform.close();
});

const set = (changes: unknown, key = platform.bootstrap.api_key, workspace?: string) =>
  platform.call<WorkspaceSecretName[]>(key, 'POST', SECRETS, changes, workspace);
const names = async () => (await platform.asAdmin<WorkspaceSecretName[]>('GET', SECRETS)).body.map(({ key }) => key);
const read = async (keys: string[], workspace = workspaceId) => {
  const question = { organization_id: platform.bootstrap.organization_id, workspace_id: workspace, keys };
  const { body } = await platform.internal<WorkspaceSecretValues>('/internal/workspaces/secrets', question);
  return Object.fromEntries(body.secrets.map(({ key, value }) => [key, value]));
};

describe('the secrets of a workspace', () => {
  it('are set, replaced and deleted together; answers have their names alone', async () => {
    const first = await set([
      { key: 'B_KEY', value: 'b' },
      { key: 'a.key-1', value: '' },
    ]);
    expect(first).toEqual({ status: 200, body: [{ key: 'B_KEY' }, { key: 'a.key-1' }] });
    const second = await set([
      { key: 'B_KEY', value: 'b2' },
      { key: 'a.key-1', value: null },
      { key: 'never.there', value: null },
    ]);
    expect(second).toEqual({ status: 200, body: [{ key: 'B_KEY' }] });
    expect(await names()).toEqual(['B_KEY']);
    expect(await read(['B_KEY', 'a.key-1', 'never.there'])).toEqual({ B_KEY: 'b2' });
  });

  it.each([
    ['an empty key', [{ key: '', value: 'x' }], [0, 'key']],
    ['a key that is a path', [{ key: '..', value: 'x' }], [0, 'key']],
    ['a key with a slash', [{ key: 'a/b', value: 'x' }], [0, 'key']],
    [
      'a key twice',
      [
        { key: 'ONE', value: 'x' },
        { key: 'ONE', value: null },
      ],
      [1, 'key'],
    ],
    ['a value of too many bytes', [{ key: 'ONE', value: 'é'.repeat(40_000) }], [0, 'value']],
    ['a value with a NUL', [{ key: 'ONE', value: 'a\0b' }], [0, 'value']],
    ['no value', [{ key: 'ONE' }], [0]],
  ])('are not changed by a list with %s: 422 with its location and without the value', async (_, changes, loc) => {
    const before = await names();
    const answer = await set([...changes, { key: 'FINE', value: 'canary-of-a-refusal' }]);
    expect(answer.status).toBe(422);
    const { detail } = answer.body as unknown as { detail: { loc: unknown[] }[] };
    expect(detail.map((issue) => issue.loc.slice(0, loc.length + 1))).toContainEqual(['body', ...loc]);
    expect(await names()).toEqual(before);
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  });

  it('are at most 200, also when requests come at once', async () => {
    const { body } = await platform.asAdmin<{ id: string }>('POST', '/api/v1/workspaces', { display_name: 'Full' });
    const { key } = await platform.issue({ workspaces: [body.id] });
    const list = (prefix: string) =>
      Array.from({ length: 150 }, (_, index) => ({ key: `${prefix}${index}`, value: 'x' }));
    const answers = await Promise.all(['A', 'B'].map((prefix) => set(list(prefix), key)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect((await platform.call<unknown[]>(key, 'GET', SECRETS)).body).toHaveLength(150);
  });

  it('are named to readers, changed by those who manage the workspace, and those of others are apart', async () => {
    const viewer = await people.add({ workspaces: { [workspaceId]: PLATFORM_ROLES.workspaceViewer } });
    await set([{ key: 'SHARED_NAME', value: 'ours' }]);
    expect((await platform.call(viewer.token, 'GET', SECRETS, undefined, workspaceId)).status).toBe(200);
    expect((await set([{ key: 'X', value: 'x' }], viewer.token, workspaceId)).status).toBe(403);
    const { body: other } = await platform.asAdmin<{ id: string }>('POST', '/api/v1/workspaces', { display_name: 'B' });
    const { key } = await platform.issue({ workspaces: [other.id] });
    expect((await set([{ key: 'SHARED_NAME', value: 'theirs' }], key)).status).toBe(200);
    expect([await read(['SHARED_NAME']), await read(['SHARED_NAME'], other.id)]).toEqual([
      { SHARED_NAME: 'ours' },
      { SHARED_NAME: 'theirs' },
    ]);
    await platform.asAdmin('DELETE', `/api/v1/workspaces/${other.id}`);
    expect(await read(['SHARED_NAME'], other.id)).toEqual({});
    expect(await people.database.prisma.workspaceSecret.count({ where: { workspaceId: other.id } })).toBe(0);
  });

  it('are nowhere in the database, in the log or on the bus, and open in their own place alone', async () => {
    await set([
      { key: 'CANARY', value: 'canary-of-a-secret' },
      { key: 'MOVED', value: 'x' },
    ]);
    expect(await read(['CANARY'])).toEqual({ CANARY: 'canary-of-a-secret' });
    const [dump, log] = [await platform.dump(), platform.output()];
    expect(dump).toContain('secret.created');
    for (const text of [dump, log]) expect(text).not.toContain('canary-of-a-secret');
    const { workspaceSecret } = people.database.prisma;
    const [canary] = await workspaceSecret.findMany({ where: { key: 'CANARY' } });
    await workspaceSecret.updateMany({ where: { key: 'MOVED' }, data: { encryptedValue: canary!.encryptedValue } });
    const question = {
      organization_id: platform.bootstrap.organization_id,
      workspace_id: workspaceId,
      keys: ['MOVED'],
    };
    expect((await platform.internal('/internal/workspaces/secrets', question)).status).toBe(500);
  });

  it('are read by services of the platform alone', async () => {
    const question = {
      organization_id: platform.bootstrap.organization_id,
      workspace_id: workspaceId,
      keys: ['CANARY'],
    };
    expect((await platform.asAdmin('POST', '/internal/workspaces/secrets', question)).status).toBe(401);
  });
});
