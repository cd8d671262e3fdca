import type { ApiKey, IssuedApiKey, Role, ServiceAccount, Workspace } from '@runyard/contracts';
import { withDatabaseClient } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { whileLocked } from './support/locked-rows.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const SERVICE_KEYS = '/api/v1/orgs/current/service-keys';
const ACCOUNTS = '/api/v1/service-accounts';
const TOKENS = '/api/v1/orgs/current/personal-access-tokens';
const MISSING = '00000000-0000-4000-8000-000000000000';
const DAY_MS = 86_400_000;

let platform: TestOrgAccess;
let zebra: Workspace;
let alpha: Workspace;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  zebra = (await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Zebra' })).body;
  alpha = (await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Alpha' })).body;
});
afterAll(() => platform.close());

const sql = <Row>(text: string, values: unknown[] = []) =>
  withDatabaseClient(platform.database.url, async (client) => (await client.query(text, values)).rows as Row[]);
const permissionsOf = async (key: string, workspaceId?: string) =>
  (await platform.verify(key, workspaceId ? { workspace_id: workspaceId } : {})).body.claims.permissions;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const listed = async (id: string) => (await platform.list(platform.bootstrap.api_key)).find((key) => key.id === id);

describe('a service key', () => {
  it('shows its scope, its roles as they were asked for or by default, and its creator', async () => {
    const wide = await platform.issue();
    const [{ identity_id }] = (await sql<{ identity_id: string }>('SELECT identity_id FROM api_key WHERE id = $1', [
      wide.id,
    ])) as [{ identity_id: string }];
    const [{ id: admin }] = (await sql<{ id: string }>('SELECT id FROM identity WHERE is_bootstrap')) as [
      { id: string },
    ];
    expect(wide).toMatchObject({
      access_scope: 'organization',
      role_id: PLATFORM_ROLES.workspaceAdmin,
      org_role_id: PLATFORM_ROLES.organizationUser,
      created_by: admin,
      service_account_id: identity_id,
      workspace_names: null,
    });
    const narrow = await platform.issue({ workspaces: [zebra.id, alpha.id] });
    expect(narrow).toMatchObject({
      access_scope: 'workspace',
      role_id: PLATFORM_ROLES.workspaceAdmin,
      org_role_id: null,
      workspace_names: ['Zebra', 'Alpha'],
    });
    const { key: _, ...kept } = narrow;
    expect(await listed(narrow.id)).toEqual(kept);
    const asked = { workspaces: [alpha.id], org_role_id: PLATFORM_ROLES.organizationUser };
    expect(await platform.issue(asked)).toMatchObject({ org_role_id: PLATFORM_ROLES.organizationUser });
    const token = await platform.issue({}, TOKENS);
    expect(token).toMatchObject({ role_id: null, org_role_id: null, service_account_id: null, created_by: admin });
  });

  it('has new roles from the moment of their change, which only its managers make and nobody above their own', async () => {
    const key = await platform.issue({ workspaces: [zebra.id] });
    const manager = await platform.issue({ workspaces: [zebra.id] });
    const path = `${SERVICE_KEYS}/${key.id}`;
    expect(await permissionsOf(key.key)).toContain('deployments:delete');
    const editor = { role_id: PLATFORM_ROLES.workspaceEditor };
    const changed = await platform.call<ApiKey>(manager.key, 'PATCH', path, editor);
    expect(changed).toMatchObject({ status: 200, body: { id: key.id, ...editor, org_role_id: null } });
    expect(await permissionsOf(key.key)).not.toContain('deployments:delete');
    const viewer = { org_role_id: PLATFORM_ROLES.organizationViewer };
    expect((await platform.asAdmin<ApiKey>('PATCH', path, viewer)).body).toMatchObject({ ...editor, ...viewer });
    expect(await listed(key.id)).toMatchObject({ ...editor, ...viewer });
    expect(await permissionsOf(key.key)).not.toContain('organization:pats:create');
    expect((await platform.asAdmin<ApiKey>('PATCH', path, { role_id: null })).body).toMatchObject(editor);

    const above = { org_role_id: PLATFORM_ROLES.organizationAdmin };
    expect((await platform.call(manager.key, 'PATCH', path, above)).status).toBe(403);
    expect((await platform.asAdmin('PATCH', path, { role_id: MISSING })).status).toBe(422);
    expect((await platform.asAdmin('PATCH', path, { role_id: PLATFORM_ROLES.organizationUser })).status).toBe(422);
    expect((await platform.asAdmin('PATCH', path, { workspaces: [] })).status).toBe(422);
    expect((await platform.asAdmin('PATCH', `${SERVICE_KEYS}/${MISSING}`, editor)).status).toBe(404);
    const stranger = await platform.issue({ workspaces: [alpha.id] });
    expect((await platform.call(stranger.key, 'PATCH', path, editor)).status).toBe(404);
    const first = (await platform.list(platform.bootstrap.api_key)).find(({ created_by }) => created_by === null)!;
    expect((await platform.asAdmin('PATCH', `${SERVICE_KEYS}/${first.id}`, viewer)).status).toBe(409);
  });

  it('is rotated: the new one is of the same account, and the old one ends a day later or when asked', async () => {
    const old = await platform.issue({ workspaces: [zebra.id], description: 'nightly' });
    const rotate = (id: string, body?: object) =>
      platform.asAdmin<IssuedApiKey>('POST', `${SERVICE_KEYS}/${id}/rotate`, body);
    const next = (await rotate(old.id)).body;
    expect(next).toMatchObject({
      service_account_id: old.service_account_id,
      description: 'nightly',
      expires_at: null,
    });
    expect(next.key).not.toBe(old.key);
    const end = Date.parse((await listed(old.id))!.expires_at!);
    expect(Math.abs(end - Date.now() - DAY_MS)).toBeLessThan(60_000);
    expect(await permissionsOf(old.key)).toEqual(await permissionsOf(next.key));
    // An end is never moved to later.
    expect((await rotate(old.id, { old_key_expires_at: inDays(3) })).status).toBe(422);
    expect((await rotate(old.id, { old_key_expires_at: '2020-01-01T00:00:00Z' })).status).toBe(422);

    await platform.asAdmin('DELETE', `${SERVICE_KEYS}/${old.id}`);
    expect((await platform.verify(old.key)).status).toBe(401);
    expect((await platform.verify(next.key)).status).toBe(200);
    await sql("UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = $1", [next.id]);
    expect((await rotate(next.id)).status).toBe(409);
    await platform.asAdmin('DELETE', `${SERVICE_KEYS}/${next.id}`);
    const [account] = await sql<{ over: boolean }>(
      'SELECT disabled_at IS NOT NULL AS over FROM identity WHERE id = $1',
      [old.service_account_id],
    );
    expect(account).toEqual({ over: true });
  });
});

describe('a maximum expiry', () => {
  it.each([
    ['max_service_key_expiry_days', SERVICE_KEYS],
    ['max_pat_expiry_days', TOKENS],
  ])('%s refuses keys that expire later or never, and shortens none', async (column, path) => {
    await sql(`UPDATE organization SET ${column} = 30`);
    try {
      for (const body of [{}, { expires_at: null }, { expires_at: inDays(31) }]) {
        expect(await platform.asAdmin('POST', path, body)).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'expires_at'] }] },
        });
      }
      const expires_at = inDays(29);
      expect((await platform.issue({ expires_at }, path)).expires_at).toBe(expires_at);
    } finally {
      await sql(`UPDATE organization SET ${column} = NULL`);
    }
    expect((await platform.issue({}, path)).expires_at).toBeNull();
  });
});

describe('a service account', () => {
  const create = (body: object, key = platform.bootstrap.api_key) =>
    platform.call<ServiceAccount>(key, 'POST', ACCOUNTS, body);
  const accounts = async (key = platform.bootstrap.api_key) =>
    (await platform.call<ServiceAccount[]>(key, 'GET', ACCOUNTS)).body;

  it('has a role in each of its workspaces, several keys, and ends with none of them', async () => {
    const workspaces = [
      { workspace_id: zebra.id, role_id: PLATFORM_ROLES.workspaceViewer },
      { workspace_id: alpha.id },
    ];
    const { status, body: account } = await create({ name: 'Robot', workspaces });
    expect({ status, account }).toMatchObject({
      status: 200,
      account: {
        name: 'Robot',
        workspaces: [
          { workspace_id: zebra.id, workspace_name: 'Zebra', role_id: PLATFORM_ROLES.workspaceViewer },
          { workspace_id: alpha.id, workspace_name: 'Alpha', role_id: PLATFORM_ROLES.workspaceAdmin },
        ],
        last_used_at: null,
      },
    });
    expect(await accounts()).toContainEqual(account);
    const mine = { service_account_id: account.id };
    const [one, two] = [await platform.issue(mine), await platform.issue({ ...mine, expires_at: inDays(1) })];
    expect(one).toMatchObject({ ...mine, role_id: null, workspace_names: ['Zebra', 'Alpha'] });
    expect(await permissionsOf(one.key, zebra.id)).not.toContain('deployments:create');
    expect(await permissionsOf(two.key, alpha.id)).toContain('workspaces:manage-keys');
    for (const key of [one, two]) await platform.asAdmin('DELETE', `${SERVICE_KEYS}/${key.id}`);
    expect((await accounts()).map(({ id }) => id)).toContain(account.id);
    const third = await platform.issue(mine);
    expect((await platform.verify(third.key)).status).toBe(200);

    expect((await platform.asAdmin('DELETE', `${ACCOUNTS}/${account.id}`)).status).toBe(200);
    expect((await platform.verify(third.key)).status).toBe(401);
    expect((await accounts()).map(({ id }) => id)).not.toContain(account.id);
    expect((await platform.asAdmin('DELETE', `${ACCOUNTS}/${account.id}`)).status).toBe(404);
    expect((await platform.asAdmin('POST', SERVICE_KEYS, mine)).status).toBe(422);
  });

  it('is made, seen and given keys only by those who manage keys in all its workspaces', async () => {
    const manager = await platform.issue({ workspaces: [zebra.id] });
    const near = (await create({ name: 'Near', workspaces: [{ workspace_id: zebra.id }] }, manager.key)).body;
    const far = (await create({ name: 'Far', workspaces: [{ workspace_id: zebra.id }, { workspace_id: alpha.id }] }))
      .body;
    const powerful = (
      await create({
        name: 'Powerful',
        workspaces: [{ workspace_id: zebra.id }],
        org_role_id: PLATFORM_ROLES.organizationOperator,
      })
    ).body;
    const seen = (await accounts(manager.key)).map(({ id }) => id);
    expect(seen).toContain(near.id);
    expect(seen).not.toContain(far.id);
    expect((await create({ name: 'Wide' }, manager.key)).status).toBe(403);
    expect((await create({ name: 'Wide', workspaces: [{ workspace_id: alpha.id }] }, manager.key)).status).toBe(403);
    expect((await platform.call(manager.key, 'DELETE', `${ACCOUNTS}/${far.id}`)).status).toBe(404);
    const keyFor = (id: string) => platform.call(manager.key, 'POST', SERVICE_KEYS, { service_account_id: id });
    expect((await keyFor(near.id)).status).toBe(200);
    expect((await keyFor(far.id)).status).toBe(422);
    expect((await keyFor(powerful.id)).status).toBe(403);
    const both = { service_account_id: near.id, workspaces: [zebra.id] };
    expect((await platform.asAdmin('POST', SERVICE_KEYS, both)).status).toBe(422);
  });
});

describe('a service account with a higher organization role than that of who manages its workspace', () => {
  const operator = { org_role_id: PLATFORM_ROLES.organizationOperator };
  const refused = { status: 403, body: { detail: expect.stringContaining('higher organization role than yours') } };
  /** Everything that changes a key or its account, as a manager of keys of its workspace may request it. */
  const changesOf = ({ id, service_account_id }: IssuedApiKey): [string, string, object?][] => [
    ['PATCH', `${SERVICE_KEYS}/${id}`, { role_id: PLATFORM_ROLES.workspaceViewer }],
    ['PATCH', `${SERVICE_KEYS}/${id}`, { org_role_id: PLATFORM_ROLES.organizationViewer }],
    ['POST', `${SERVICE_KEYS}/${id}/rotate`, {}],
    ['POST', SERVICE_KEYS, { service_account_id }],
    ['DELETE', `/api/v1/api-key/${id}`],
    ['DELETE', `${SERVICE_KEYS}/${id}`],
    ['DELETE', `${ACCOUNTS}/${service_account_id}`],
  ];
  const issueIn = async (workspace: Workspace, fields: object = {}) => {
    const workspaces = [{ workspace_id: workspace.id }];
    const account = { name: 'Robot', workspaces, ...fields };
    const { id } = (await platform.asAdmin<ServiceAccount>('POST', ACCOUNTS, account)).body;
    return platform.issue({ service_account_id: id });
  };

  it('is seen by the manager, who neither changes nor ends it or its keys', async () => {
    const manager = await platform.issue({ workspaces: [zebra.id] });
    const mighty = await issueIn(zebra, operator);
    const seen = (await platform.call<ServiceAccount[]>(manager.key, 'GET', ACCOUNTS)).body;
    expect(seen.map(({ id }) => id)).toContain(mighty.service_account_id);
    for (const [method, path, body] of changesOf(mighty))
      expect(await platform.call(manager.key, method, path, body, zebra.id)).toMatchObject(refused);
    expect(await listed(mighty.id)).toMatchObject(operator);
    expect((await platform.verify(mighty.key)).status).toBe(200);
  });

  it('is refused to a manager whose request waits while the account gets that role', async () => {
    const manager = await platform.issue({ workspaces: [zebra.id] });
    const people = await TestPeople.open(platform);
    try {
      for (const at of changesOf(manager).keys()) {
        const account = await issueIn(zebra);
        const id = account.service_account_id as string;
        const [method, path, body] = changesOf(account)[at]!;
        const { sent } = await whileLocked(people, { table: 'identity', value: id }, async (rows) => {
          const request = platform.call(manager.key, method, path, body, zebra.id);
          await rows.waiting(1);
          const organizationRoleId = PLATFORM_ROLES.organizationOperator;
          await rows.transaction.identity.update({ where: { id }, data: { organizationRoleId } });
          return { sent: request };
        });
        expect(await sent, `${method} ${path}`).toMatchObject(refused);
        expect((await platform.verify(account.key)).status).toBe(200);
      }
    } finally {
      await people.close();
    }
  });
});

describe('the tokens of a person', () => {
  const OWN = '/api/v1/api-key/current';

  it('are at the address of clients before too, have the rights of the person at use, and end with them', async () => {
    const people = await TestPeople.open(platform);
    try {
      const { organization_id, workspace_id } = platform.bootstrap;
      const personId = await people.addPerson();
      const identityId = await people.addMember(personId, organization_id, [
        { roleId: PLATFORM_ROLES.organizationUser, workspaceId: null },
        { roleId: PLATFORM_ROLES.workspaceEditor, workspaceId: workspace_id },
      ]);
      const { token } = await people.signIn(personId, {
        sso: {
          organizationId: organization_id,
          providerId: MISSING,
          sessionId: null,
          subject: 'x',
          encryptedIdToken: null,
        },
      });
      const made = await platform.call<IssuedApiKey>(token, 'POST', OWN, { description: 'mine' });
      expect(made).toMatchObject({ status: 200, body: { created_by: identityId, role_id: null } });
      const { key, ...shown } = made.body;
      expect((await platform.call(token, 'GET', OWN)).body).toEqual([shown]);
      expect((await platform.verify(key, { workspace_id })).body.claims).toMatchObject({
        person_id: personId,
        sub: identityId,
        permissions: expect.arrayContaining(['deployments:update']),
      });
      await people.database.prisma.member.updateMany({
        where: { identityId },
        data: { roleId: PLATFORM_ROLES.workspaceViewer },
      });
      expect(await permissionsOf(key, workspace_id)).not.toContain('deployments:update');
      expect((await platform.call(key, 'GET', OWN)).status).toBe(403);
      expect((await platform.asAdmin('GET', OWN)).status).toBe(403);

      const second = (await platform.call<IssuedApiKey>(token, 'POST', OWN)).body;
      expect((await platform.call(token, 'DELETE', `${OWN}/${second.id}`)).status).toBe(200);
      expect((await platform.verify(second.key)).status).toBe(401);
      await people.database.prisma.identity.updateMany({ where: { id: identityId }, data: { disabledAt: new Date() } });
      expect((await platform.verify(key)).status).toBe(401);
    } finally {
      await people.close();
    }
  });
});

it('a personal token ends with the key that made it, and with the token that did, though the account has other keys', async () => {
  const account = (await platform.asAdmin<ServiceAccount>('POST', ACCOUNTS, { name: 'several' })).body;
  const issue = () => platform.issue({ service_account_id: account.id });
  const createToken = async (key: string) => (await platform.call<IssuedApiKey>(key, 'POST', TOKENS, {})).body;
  const [revoked, rotated] = [await issue(), await issue()];
  const token = await createToken(revoked.key);
  const ofToken = await createToken(token.key);
  const other = await createToken(rotated.key);
  const old_key_expires_at = inDays(1);
  await platform.asAdmin('POST', `${SERVICE_KEYS}/${rotated.id}/rotate`, { old_key_expires_at });
  const [kept] = (await platform.list(rotated.key, TOKENS)).filter(({ id }) => id === other.id);
  expect(kept).toMatchObject({ expires_at: old_key_expires_at });
  await platform.asAdmin('DELETE', `${SERVICE_KEYS}/${revoked.id}`);
  const statusOf = async ({ key }: IssuedApiKey) => (await platform.verify(key)).status;
  expect(await Promise.all([token, ofToken, other, rotated].map(statusOf))).toEqual([401, 401, 200, 200]);
  const events = await sql<{ action: string }>(
    `SELECT action FROM audit_event WHERE resource_id = $1 ORDER BY sequence`,
    [ofToken.id],
  );
  expect(events.map(({ action }) => action)).toEqual(['api_key.created', 'api_key.revoked']);
});

it('changes of keys and accounts are in the audit trail, without the keys', async () => {
  const key = await platform.issue({ description: 'audited' });
  await platform.asAdmin('PATCH', `${SERVICE_KEYS}/${key.id}`, { role_id: PLATFORM_ROLES.workspaceViewer });
  await platform.asAdmin('DELETE', `${SERVICE_KEYS}/${key.id}`);
  const events = await sql<{ action: string; before: ApiKey | null; after: ApiKey | null }>(
    'SELECT action, before, after FROM audit_event WHERE resource_id = $1 ORDER BY sequence',
    [key.id],
  );
  expect(events.map(({ action }) => action)).toEqual(['api_key.created', 'api_key.changed', 'api_key.revoked']);
  expect(events[1]).toMatchObject({
    before: { role_id: PLATFORM_ROLES.workspaceAdmin },
    after: { role_id: PLATFORM_ROLES.workspaceViewer },
  });
  expect(await platform.dump()).not.toContain(key.key);
});

it('PAT_CREATION_DISABLED forbids personal access tokens in every organization', async () => {
  const closed = await TestOrgAccess.start({ environment: { PAT_CREATION_DISABLED: 'true' } });
  try {
    expect((await closed.asAdmin('POST', TOKENS, {})).status).toBe(403);
    expect((await closed.asAdmin<Role[]>('POST', SERVICE_KEYS, {})).status).toBe(200);
  } finally {
    await closed.close();
  }
});
