import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type {
  ApiKey,
  BootstrapResponse,
  CloudEvent,
  IssuedApiKey,
  Role,
  ServiceAccount,
  Workspace,
} from '@runyard/contracts';
import { createEventBus } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { withDatabaseClient } from '@runyard/test-kit';
import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExpiredAccountSweeper } from '../src/access/credentials/expired-account-sweeper.ts';
import { makeKey } from '../src/access/credentials/key-format.ts';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { openDatabase } from '../src/database/database.ts';
import { TestOrgAccess } from './support/platform.ts';

const SERVICE_KEYS = '/api/v1/orgs/current/service-keys';
const TOKENS = '/api/v1/orgs/current/personal-access-tokens';
const WORKSPACE_KEYS = '/api/v1/api-key';
const DEPLOYMENT = 'deployment:0192f7a0-0000-7000-8000-000000000001';

let platform: TestOrgAccess;
let research: Workspace;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  research = (await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Research' })).body;
});
afterAll(() => platform.close());

describe('bootstrap', () => {
  it('creates one organization and returns one key, however often and concurrently it is called', async () => {
    const fresh = await TestOrgAccess.start();
    try {
      expect(fresh.bootstrap.api_key).toMatch(/^lsv2_sk_/);
      const again = await Promise.all(
        Array.from({ length: 8 }, () => fresh.internal<BootstrapResponse>('/internal/bootstrap', {})),
      );
      for (const { status, body } of again) {
        // Only hashes of links are stored: each call makes another, until there is an administrator.
        const administrator_setup_path = expect.stringContaining('/auth/setup?token=');
        const made = { ...fresh.bootstrap, api_key: null, administrator_setup_path };
        expect({ status, body }).toEqual({ status: 200, body: made });
      }
      const rotated = await fresh.internal<BootstrapResponse>('/internal/bootstrap', { rotate_key: true });
      expect(rotated.body.api_key).toMatch(/^lsv2_sk_/);
      expect((await fresh.verify(fresh.bootstrap.api_key)).status).toBe(401);
      expect((await fresh.verify(rotated.body.api_key!)).status).toBe(200);
    } finally {
      await fresh.close();
    }
  });

  it.each(['/internal/bootstrap', '/internal/keys/verify', '/internal/identities/reach'])(
    "and %s are only for the platform's own services",
    async (path) => {
      expect((await platform.internal(path, {}, { token: 'another token of some length' })).status).toBe(401);
      expect((await fetch(platform.service.url + path, { method: 'POST', body: '{}' })).status).toBe(401);
    },
  );
});

describe('a key', () => {
  it('is exchanged for a principal token of at most a minute, which the published keys verify', async () => {
    const { body } = await platform.verify(platform.bootstrap.api_key, { audience: DEPLOYMENT });
    const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', platform.service.url));
    const { payload } = await jwtVerify(body.token, keys, { audience: DEPLOYMENT, algorithms: ['EdDSA'] });
    expect(payload).toMatchObject(body.claims);
    expect(body.claims.exp - Date.now() / 1000).toBeLessThanOrEqual(60);
    expect(body.claims).toMatchObject({
      plan: 'enterprise',
      organization_id: platform.bootstrap.organization_id,
      workspace_id: platform.bootstrap.workspace_id,
      kind: 'service_key',
      organization_role: 'admin',
      permissions: expect.arrayContaining(['organization:manage', 'deployments:create', 'deployments:delete']),
    });
  });

  it.each([
    ['unknown', makeKey('service_key')],
    ['mistyped', 'lsv2_sk_000'],
    ['no key at all', 'hello'],
  ])('that is %s is 401 with a detail', async (_, key) => {
    expect(await platform.verify(key)).toEqual({ status: 401, body: { detail: 'Invalid API key' } });
  });

  it('is refused for an unknown audience', async () => {
    expect((await platform.verify(platform.bootstrap.api_key, { audience: 'deployment:everything' })).status).toBe(422);
  });

  it('does not work after its expiry, and none of its tokens lives longer', async () => {
    const expiresAt = new Date(Date.now() + 20_000).toISOString();
    const issued = await platform.issue({ expires_at: expiresAt });
    expect(issued.expires_at).toBe(expiresAt);
    const good = await platform.verify(issued.key);
    expect(good.body.claims.exp * 1000).toBeLessThanOrEqual(Date.parse(expiresAt));
    await withDatabaseClient(platform.database.url, (client) =>
      client.query("UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = $1", [issued.id]),
    );
    expect(await platform.verify(issued.key)).toEqual({ status: 401, body: { detail: 'API key has expired' } });
    const past = { expires_at: '2020-01-01T00:00:00Z' };
    expect((await platform.asAdmin('POST', SERVICE_KEYS, past)).status).toBe(422);
  });

  it('does not work after its deletion', async () => {
    const issued = await platform.issue();
    expect((await platform.verify(issued.key)).status).toBe(200);
    const deleted = await platform.asAdmin<ApiKey>('DELETE', `${SERVICE_KEYS}/${issued.id}`);
    expect(deleted).toMatchObject({ status: 200, body: { id: issued.id } });
    expect((await platform.verify(issued.key)).status).toBe(401);
    expect((await platform.asAdmin('DELETE', `${SERVICE_KEYS}/${issued.id}`)).status).toBe(404);
    expect((await platform.list(platform.bootstrap.api_key)).map((key) => key.id)).not.toContain(issued.id);
  });

  it('is shown once and stored nowhere: not in the database, the log or the lists', async () => {
    const issued = [
      await platform.issue(),
      await platform.issue({}, TOKENS),
      await platform.issue({}, WORKSPACE_KEYS),
      { key: platform.bootstrap.api_key },
    ];
    const listed = await platform.list(platform.bootstrap.api_key);
    const everywhere = (await platform.dump()) + platform.output() + JSON.stringify(listed);
    for (const { key } of issued) {
      expect((await platform.verify(key)).status).toBe(200);
      const random = key.split('_')[2]!;
      for (const part of [key, random, random.slice(0, 12), random.slice(-12)]) expect(everywhere).not.toContain(part);
    }
    const short = listed.find((key) => key.id === (issued[0] as IssuedApiKey).id)!.short_key;
    expect(issued[0]!.key.startsWith(short.split('...')[0]!)).toBe(true);
  });

  it('shows when it was last used, after a while', async () => {
    const issued = await platform.issue();
    expect(issued.last_used_at).toBeNull();
    await platform.verify(issued.key);
    await platform.restart();
    const listed = (await platform.list(platform.bootstrap.api_key)).find((key) => key.id === issued.id)!;
    expect(Date.now() - Date.parse(listed.last_used_at!)).toBeLessThan(60_000);
  });
});

describe('the workspace of a key', () => {
  const requireWorkspaceId = async (key: string, workspaceId?: string) => {
    const { status, body } = await platform.verify(key, workspaceId ? { workspace_id: workspaceId } : {});
    return status === 200 ? (body.claims.workspace_id ?? 'none') : status;
  };

  it('is the requested one, if the key reaches it', async () => {
    const wide = await platform.issue();
    expect(await requireWorkspaceId(wide.key)).toBe('none');
    expect(await requireWorkspaceId(wide.key, research.id)).toBe(research.id);
    expect(await requireWorkspaceId(wide.key, platform.bootstrap.workspace_id)).toBe(platform.bootstrap.workspace_id);
    const narrow = await platform.issue({ workspaces: [research.id] });
    expect(await requireWorkspaceId(narrow.key, platform.bootstrap.workspace_id)).toBe(403);
  });

  it('is the only one it reaches, or its default one, when none is requested', async () => {
    const both = [research.id, platform.bootstrap.workspace_id];
    expect(await requireWorkspaceId((await platform.issue({ workspaces: [research.id] })).key)).toBe(research.id);
    expect(await requireWorkspaceId((await platform.issue({ workspaces: both })).key)).toBe('none');
    const preferring = await platform.issue({ workspaces: both, default_workspace_id: research.id });
    expect(await requireWorkspaceId(preferring.key)).toBe(research.id);
  });

  it.each(['11111111-1111-4111-8111-111111111111', 'not-a-uuid', "'; DROP TABLE api_key"])(
    'cannot be %s',
    async (workspaceId) => {
      expect(await requireWorkspaceId(platform.bootstrap.api_key, workspaceId)).toBe(403);
    },
  );

  it('decides its permissions there', async () => {
    const viewer = await platform.issue({ read_only: true, workspaces: [research.id] });
    expect((await platform.verify(viewer.key)).body.claims.permissions).toEqual([
      'deployments:read',
      'organization:read',
      'runs:read',
      'workspaces:read',
    ]);
    const editor = await platform.issue({ role_id: PLATFORM_ROLES.workspaceEditor });
    const inResearch = (await platform.verify(editor.key, { workspace_id: research.id })).body.claims.permissions;
    expect(inResearch).toEqual(expect.arrayContaining(['deployments:create', 'deployments:update']));
    expect(inResearch).not.toContain('deployments:delete');
    expect((await platform.verify(editor.key)).body.claims.permissions).not.toContain('deployments:read');
  });
});

describe('a read_only key', () => {
  const writing = (permission: string) => !permission.endsWith(':read');

  it.each([
    ['a service key with the role of an administrator', SERVICE_KEYS, { role_id: PLATFORM_ROLES.workspaceAdmin }],
    ['a service key of an organization administrator', SERVICE_KEYS, { org_role_id: PLATFORM_ROLES.organizationAdmin }],
    ['a key of the workspace', WORKSPACE_KEYS, { role_id: PLATFORM_ROLES.workspaceEditor }],
    ['a personal token of an administrator', TOKENS, {}],
  ])('has no permission to write, whatever its roles: %s', async (_, path, roles) => {
    const issued = await platform.issue({ read_only: true, ...roles }, path);
    expect(issued.read_only).toBe(true);
    const { claims } = (await platform.verify(issued.key, { workspace_id: platform.bootstrap.workspace_id })).body;
    expect(claims).toMatchObject({ organization_role: 'viewer', read_only: true });
    expect(claims.permissions).toEqual(expect.arrayContaining(['deployments:read', 'runs:read', 'workspaces:read']));
    expect(claims.permissions.filter(writing)).toEqual([]);
  });

  it("cannot change its administrator's organization, or create a key that could", async () => {
    const token = await platform.issue({ read_only: true }, TOKENS);
    const attempts = [
      ['POST', SERVICE_KEYS, {}],
      ['POST', SERVICE_KEYS, { workspaces: [research.id] }],
      ['POST', WORKSPACE_KEYS, {}],
      ['POST', TOKENS, {}],
      ['POST', '/api/v1/workspaces', { display_name: 'Mine' }],
      ['PATCH', '/api/v1/orgs/current/info', { invites_enabled: false }],
    ] as const;
    for (const [method, path, body] of attempts) {
      const { status } = await platform.call(token.key, method, path, body, platform.bootstrap.workspace_id);
      expect({ method, path, status }).toEqual({ method, path, status: 403 });
    }
    const workspaces = (await platform.call<Workspace[]>(token.key, 'GET', '/api/v1/workspaces')).body;
    expect(workspaces.flatMap(({ permissions }) => permissions).filter(writing)).toEqual([]);
  });
});

describe('a request for a key', () => {
  it.each([SERVICE_KEYS, WORKSPACE_KEYS, TOKENS])('to %s is refused with a field that is not known', async (path) => {
    expect(await platform.asAdmin('POST', path, { readonly: true })).toEqual({
      status: 422,
      body: { detail: [{ loc: ['body', 'readonly'], msg: 'Value is not a known field', type: 'extra_forbidden' }] },
    });
  });
});

describe('the management of keys', () => {
  const create = (key: string, body: object, workspaceId?: string) =>
    platform.call<IssuedApiKey>(key, 'POST', SERVICE_KEYS, body, workspaceId);

  it('of the whole organization requires an administrator', async () => {
    const user = await platform.issue();
    expect((await create(user.key, {})).status).toBe(403);
    expect((await create(platform.bootstrap.api_key, {})).status).toBe(200);
  });

  it('of workspaces requires the permission in every one of them', async () => {
    const manager = await platform.issue({ workspaces: [research.id] });
    expect((await create(manager.key, { workspaces: [research.id] })).status).toBe(200);
    const wider = { workspaces: [research.id, platform.bootstrap.workspace_id] };
    expect((await create(manager.key, wider)).status).toBe(403);
    const editor = await platform.issue({ workspaces: [research.id], role_id: PLATFORM_ROLES.workspaceEditor });
    expect((await create(editor.key, { workspaces: [research.id] })).status).toBe(403);
  });

  it('nobody gives a key a higher role in the organization than their own', async () => {
    const manager = await platform.issue({ workspaces: [research.id] });
    const greedy = { workspaces: [research.id], org_role_id: PLATFORM_ROLES.organizationAdmin };
    expect((await create(manager.key, greedy)).status).toBe(403);
    const viewing = await platform.issue({
      workspaces: [research.id],
      org_role_id: PLATFORM_ROLES.organizationViewer,
    });
    const child = await create(viewing.key, { workspaces: [research.id] });
    expect((await platform.verify(child.body.key)).body.claims.organization_role).toBe('viewer');
  });

  it('gives a key no permission that the caller lacks, whether it is made, changed, rotated or of an account', async () => {
    const permissions = ['workspaces:read', 'workspaces:manage-keys', 'deployments:read'];
    const body = { display_name: 'Key manager', description: '', permissions };
    const { body: role } = await platform.asAdmin<Role>('POST', '/api/v1/orgs/current/roles', body);
    const workspaces = [research.id];
    const manager = await platform.issue({ workspaces, role_id: role.id });
    const refused = { status: 403, body: { detail: expect.stringContaining('may not give the role') } };
    const make = (key: object, at = SERVICE_KEYS) =>
      platform.call<IssuedApiKey>(manager.key, 'POST', at, key, research.id);
    for (const role_id of [undefined, PLATFORM_ROLES.workspaceEditor, PLATFORM_ROLES.workspaceViewer]) {
      expect(await make({ workspaces, role_id })).toMatchObject(refused);
      expect(await make({ role_id }, WORKSPACE_KEYS)).toMatchObject(refused);
    }
    const accounts = '/api/v1/service-accounts';
    const workspace = { workspace_id: research.id, role_id: PLATFORM_ROLES.workspaceAdmin };
    expect(await make({ name: 'mighty', workspaces: [workspace] }, accounts)).toMatchObject(refused);
    const { body: account } = await platform.asAdmin<ServiceAccount>('POST', accounts, {
      name: 'mighty',
      workspaces: [workspace],
    });
    expect(await make({ service_account_id: account.id })).toMatchObject(refused);
    const mighty = await platform.issue({ workspaces });
    expect(await make({}, `${SERVICE_KEYS}/${mighty.id}/rotate`)).toMatchObject(refused);
    const equal = await make({ workspaces, role_id: role.id });
    expect(equal.status).toBe(200);
    const change = { role_id: PLATFORM_ROLES.workspaceAdmin };
    expect(await platform.call(manager.key, 'PATCH', `${SERVICE_KEYS}/${equal.body.id}`, change)).toMatchObject(
      refused,
    );
    expect((await platform.call(manager.key, 'DELETE', `${SERVICE_KEYS}/${mighty.id}`)).status).toBe(200);
  });

  it('shows and deletes only keys within the workspaces that the caller manages', async () => {
    const manager = await platform.issue({ workspaces: [research.id] });
    const wide = await platform.issue();
    const near = await platform.issue({ workspaces: [research.id] });
    const ids = (await platform.list(manager.key)).map((key) => key.id);
    expect(ids).toContain(near.id);
    expect(ids).not.toContain(wide.id);
    expect((await platform.call(manager.key, 'DELETE', `${SERVICE_KEYS}/${wide.id}`)).status).toBe(404);
    expect((await platform.call(manager.key, 'DELETE', `${SERVICE_KEYS}/${near.id}`)).status).toBe(200);
  });

  it('requires existing roles and workspaces', async () => {
    const unknown = '11111111-1111-4111-8111-111111111111';
    for (const body of [
      { role_id: unknown },
      { role_id: PLATFORM_ROLES.organizationAdmin },
      { org_role_id: PLATFORM_ROLES.workspaceAdmin },
      { workspaces: [unknown] },
      { default_workspace_id: unknown },
      { default_workspace_id: platform.bootstrap.workspace_id, workspaces: [research.id] },
      { expires_at: '2020-01-01T00:00:00Z' },
    ]) {
      const answer = await create(platform.bootstrap.api_key, body);
      expect(answer).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', Object.keys(body)[0]], type: 'value_error' }] },
      });
    }
    expect(await create(platform.bootstrap.api_key, { expires_at: 'soon' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'expires_at'] }] },
    });
  });
});

describe('a key of the workspace', () => {
  it('works only there, and is listed and deleted there', async () => {
    const { body } = await platform.call<IssuedApiKey>(
      platform.bootstrap.api_key,
      'POST',
      WORKSPACE_KEYS,
      { description: 'nightly' },
      research.id,
    );
    expect(body).toMatchObject({ description: 'nightly', workspace_names: ['Research'] });
    expect((await platform.verify(body.key)).body.claims.workspace_id).toBe(research.id);
    expect((await platform.verify(body.key, { workspace_id: platform.bootstrap.workspace_id })).status).toBe(403);
    const inDefault = (await platform.list(platform.bootstrap.api_key, WORKSPACE_KEYS)).map((key) => key.id);
    expect(inDefault).not.toContain(body.id);
    expect((await platform.asAdmin('DELETE', `${WORKSPACE_KEYS}/${body.id}`)).status).toBe(404);
    const path = `${WORKSPACE_KEYS}/${body.id}`;
    const deleted = await platform.call(platform.bootstrap.api_key, 'DELETE', path, undefined, research.id);
    expect(deleted.status).toBe(200);
    expect((await platform.verify(body.key)).status).toBe(401);
  });

  it('requires that the request names a workspace', async () => {
    const wide = await platform.issue();
    expect(await platform.call(wide.key, 'POST', WORKSPACE_KEYS, {})).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('requires workspace specification') },
    });
  });
});

describe('a personal access token', () => {
  const createToken = (key: string, body: object = {}) => platform.call<IssuedApiKey>(key, 'POST', TOKENS, body);

  it('has the permissions of its owner, and ends with the owner', async () => {
    const owner = await platform.issue({ workspaces: [research.id] });
    const token = (await createToken(owner.key)).body;
    expect(token.key).toMatch(/^lsv2_pt_/);
    const [ownersClaims, tokensClaims] = [await platform.verify(owner.key), await platform.verify(token.key)];
    expect(tokensClaims.body.claims).toMatchObject({
      sub: ownersClaims.body.claims.sub,
      kind: 'personal_token',
      permissions: ownersClaims.body.claims.permissions,
    });
    await platform.asAdmin('DELETE', `${SERVICE_KEYS}/${owner.id}`);
    expect((await platform.verify(token.key)).status).toBe(401);
  });

  it('does not outlive the key that created it', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const owner = await platform.issue({ expires_at: expiresAt });
    expect((await createToken(owner.key, { expires_at: '2099-01-01T00:00:00Z' })).body.expires_at).toBe(expiresAt);
    expect((await createToken(owner.key)).body.expires_at).toBe(expiresAt);
  });

  it('is shown to and deleted by its owner only', async () => {
    const owner = await platform.issue();
    const token = (await createToken(owner.key)).body;
    expect((await platform.list(owner.key, TOKENS)).map((each) => each.id)).toEqual([token.id]);
    expect((await platform.list(platform.bootstrap.api_key, TOKENS)).map((each) => each.id)).not.toContain(token.id);
    expect((await platform.asAdmin('DELETE', `${TOKENS}/${token.id}`)).status).toBe(404);
    expect((await platform.call(owner.key, 'DELETE', `${TOKENS}/${token.id}`)).status).toBe(200);
  });

  it('is not revoked by a read-only key of its owner', async () => {
    const owner = await platform.issue();
    const token = (await createToken(owner.key)).body;
    const reading = (await createToken(owner.key, { read_only: true })).body;
    expect((await platform.call(reading.key, 'DELETE', `${TOKENS}/${token.id}`)).status).toBe(403);
    expect((await platform.verify(token.key)).status).toBe(200);
  });

  it('is refused to viewers, and to everybody where the organization forbids it', async () => {
    const viewer = await platform.issue({ org_role_id: PLATFORM_ROLES.organizationViewer });
    expect((await createToken(viewer.key)).status).toBe(403);
    const info = '/api/v1/orgs/current/info';
    await platform.asAdmin('PATCH', info, { pat_creation_disabled: true });
    expect(await createToken(platform.bootstrap.api_key)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('not enabled') },
    });
    await platform.asAdmin('PATCH', info, { pat_creation_disabled: false });
    expect((await createToken(platform.bootstrap.api_key)).status).toBe(200);
  });
});

describe('the signing keys', () => {
  const publicKeys = async () =>
    (await (await fetch(new URL('/.well-known/jwks.json', platform.service.url))).json()) as JSONWebKeySet;
  const newToken = async () => (await platform.verify(platform.bootstrap.api_key)).body.token;

  it('are kept over a restart, with encrypted private keys', async () => {
    const before = await newToken();
    await platform.restart();
    expect(decodeProtectedHeader(await newToken()).kid).toBe(decodeProtectedHeader(before).kid);
    expect(JSON.stringify(await publicKeys())).not.toContain('"d"');
    const { rows } = await withDatabaseClient(platform.database.url, (client) =>
      client.query('SELECT sealed_private_jwk FROM signing_key'),
    );
    expect(rows.every((row) => /^s1\.[0-9a-f]{8}\./.test(row.sealed_private_jwk))).toBe(true);
  });

  it('are replaced when they are old, while tokens of the old one stay valid', async () => {
    const before = await newToken();
    await withDatabaseClient(platform.database.url, (client) =>
      client.query("UPDATE signing_key SET created_at = now() - interval '91 days'"),
    );
    await platform.restart();
    const after = await newToken();
    expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid);
    const keys = createLocalJWKSet(await publicKeys());
    for (const token of [before, after]) await jwtVerify(token, keys, { audience: 'org-access' });
  });

  it('are replaced when the encryption key changes', async () => {
    const before = await newToken();
    platform.encryptionKey = Buffer.alloc(32, 7).toString('base64');
    await platform.restart();
    expect(decodeProtectedHeader(await newToken()).kid).not.toBe(decodeProtectedHeader(before).kid);
    await jwtVerify(before, createLocalJWKSet(await publicKeys()), { audience: 'org-access' });
  });
});

describe('the check whether an identity reaches a workspace', () => {
  it('considers current memberships, keys of the whole organization, and removals', async () => {
    const { organization_id, workspace_id: first } = platform.bootstrap;
    const everywhere = await platform.issue();
    const here = await platform.issue({ workspaces: [research.id] });
    const identityOf = async ({ key }: IssuedApiKey) => (await platform.verify(key)).body.claims.sub;
    const reaches = async (identity_id: string, workspace_id?: string, organization = organization_id) => {
      const question = { organization_id: organization, ...(workspace_id && { workspace_id }), identity_id };
      return (await platform.internal<{ reaches: boolean }>('/internal/identities/reach', question)).body.reaches;
    };
    const [all, one] = [await identityOf(everywhere), await identityOf(here)];
    const admin = (await platform.verify(platform.bootstrap.api_key)).body.claims.sub;
    expect(await Promise.all([all, one, admin].map((id) => reaches(id, research.id)))).toEqual([true, true, true]);
    expect(await Promise.all([all, one, admin].map((id) => reaches(id, first)))).toEqual([true, false, true]);
    expect(await Promise.all([all, one, admin].map((id) => reaches(id)))).toEqual([true, true, true]);
    const nowhere = '0192f7a0-0000-7000-8000-000000000009';
    expect(await reaches(nowhere)).toBe(false);
    expect(await reaches(all, undefined, nowhere)).toBe(false);
    expect(await reaches(all, nowhere)).toBe(false);
    expect(await reaches(nowhere, first)).toBe(false);
    expect(await reaches(all, first, nowhere)).toBe(false);
    await platform.asAdmin('DELETE', `${SERVICE_KEYS}/${here.id}`);
    expect(await reaches(one, research.id)).toBe(false);
    expect(await reaches(one)).toBe(false);
    await expire(everywhere);
    expect(await reaches(all, research.id)).toBe(false);
    expect(await reaches(all)).toBe(false);
  });
});

/** Lets a key expire. */
const expire = ({ id }: IssuedApiKey) =>
  withDatabaseClient(platform.database.url, (client) =>
    client.query("UPDATE api_key SET expires_at = now() - interval '1 s' WHERE id = $1", [id]),
  );

/** Runs the round that each process runs every minute, twice. */
async function endExpired(): Promise<void> {
  const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
  const database = await openDatabase({ connectionString: platform.database.url, poolSize: 1, migrationsDir });
  const expired = new ExpiredAccountSweeper({ database, logger: silentLogger });
  await expired.sweep();
  await expired.sweep();
  await database.close();
}

type Told = CloudEvent<{ key_id?: string; identity_id?: string }>;

describe('events', () => {
  it('report keys, identities and settings, keyed by the organization', async () => {
    const issued = await platform.issue({ description: 'seen on the bus' });
    const { sub: identity_id } = (await platform.verify(issued.key)).body.claims;
    await platform.asAdmin('PATCH', '/api/v1/orgs/current/info', { invites_enabled: false });
    const over = await platform.issue({ description: 'over in time' });
    const { sub: overId } = (await platform.verify(over.key)).body.claims;
    await expire(over);
    await endExpired();
    await platform.asAdmin('DELETE', `${SERVICE_KEYS}/${issued.id}`);

    const bus = createEventBus(platform.bus, { logger: silentLogger });
    const events: Told[] = [];
    const isLast = (event: Told) => event.type === 'runyard.identity.removed' && event.data.identity_id === identity_id;
    const done = new EventTarget();
    await bus.subscribe({
      topics: ['organizations'],
      group: 'test',
      from: 'earliest',
      onEvent: async (event) => {
        events.push(event as Told);
        if (isLast(events.at(-1)!)) done.dispatchEvent(new Event('last'));
      },
    });
    if (!events.some(isLast)) await once(done, 'last');
    await bus.close();

    expect(new Set(events.map((event) => event.subject))).toEqual(new Set([platform.bootstrap.organization_id]));
    const ours = events.filter((event) => event.data.key_id === issued.id).map((event) => event.type);
    expect(ours).toEqual(['runyard.key.issued', 'runyard.key.revoked']);
    expect(events.filter(isLast)).toHaveLength(1);
    expect(events.filter((event) => event.data.identity_id === overId).map((event) => event.type)).toEqual([
      'runyard.identity.removed',
    ]);
    expect((await platform.verify(over.key)).body.detail).toBe('API key has expired');
    expect(events.map((event) => event.type)).toContain('runyard.organization.settings_changed');
  });
});
