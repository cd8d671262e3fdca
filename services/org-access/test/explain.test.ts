import { fileURLToPath } from 'node:url';
import {
  type AccessExplanation,
  ORGANIZATION_PERMISSION_MEANINGS,
  PRINCIPAL_HEADER,
  type Role,
  WORKSPACE_PERMISSION_MEANINGS,
  type Workspace,
} from '@runyard/contracts';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { addGrants, applyGrants, type NewGrant } from '../src/access/role-grants.ts';
import { type Database, openDatabase } from '../src/database/database.ts';
import { SsoSignInService } from '../src/sign-in/sso-sign-in.ts';
import { TestOrgAccess } from './support/platform.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const EXPLAIN = '/api/v1/orgs/current/access/explain';
const PERMISSIONS = [...Object.keys(ORGANIZATION_PERMISSION_MEANINGS), ...Object.keys(WORKSPACE_PERMISSION_MEANINGS)];

let platform: TestOrgAccess;
let database: Database;
let organizationId: string;
let workspaceId: string;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  database = await openDatabase({ connectionString: platform.database.url, poolSize: 2, migrationsDir });
  ({ organization_id: organizationId, workspace_id: workspaceId } = platform.bootstrap);
});
afterAll(async () => {
  await database?.close();
  await platform.close();
});

interface Question {
  identity: string;
  permission: string;
  resource?: string;
  api_key_id?: string;
}

const ask = (question: Question, key = platform.bootstrap.api_key, prefix = EXPLAIN) =>
  platform.call<AccessExplanation>(key, 'GET', `${prefix}?${new URLSearchParams({ ...question })}`);
const askWithToken = async (question: Question, token: string): Promise<AccessExplanation> => {
  const url = `${platform.service.url}${EXPLAIN}?${new URLSearchParams({ ...question })}`;
  return (await fetch(url, { headers: { [PRINCIPAL_HEADER]: token } })).json() as Promise<AccessExplanation>;
};
const explain = async (identity: string, permission: string, resource = workspaceId) =>
  (await ask({ identity, permission, resource })).body;

/** Lets a person in by just-in-time provisioning, as an editor of the workspace. */
async function provision(email: string): Promise<string> {
  const provider = await database.prisma.ssoProvider.create({
    data: {
      id: uuidv7(),
      organizationId,
      protocol: 'oidc',
      displayName: 'Company',
      defaultWorkspaceRoleId: PLATFORM_ROLES.workspaceEditor,
      defaultWorkspaceIds: [workspaceId],
      configuration: {},
    },
  });
  const signIns = new SsoSignInService({ database, installationAllowsJit: true });
  const login = { provider, issuer: 'https://id.example.com', subject: email, email, fullName: 'Ada' };
  const result = await signIns.signIn(login, async () => undefined);
  if (!('identityId' in result)) throw new Error('denied');
  return result.identityId;
}

const grant = (identityId: string, change: Partial<NewGrant>) =>
  database.transact(async (transaction) => {
    const added = { identityId, workspaceId, roleId: PLATFORM_ROLES.workspaceViewer, sourceId: null, source: 'manual' };
    await addGrants(transaction, organizationId, [{ ...added, ...change } as NewGrant]);
    await applyGrants(transaction, organizationId, [identityId]);
  });

describe('an explanation', () => {
  it('says of every permission of every role what the token of a key says', async () => {
    const { body: roles } = await platform.asAdmin<Role[]>('GET', '/api/v1/orgs/current/roles');
    const named = (scope: Role['access_scope']) => roles.filter(({ access_scope }) => access_scope === scope);
    const admin = await platform.verify(platform.bootstrap.api_key);
    const checked: string[] = [];
    for (const organizationRole of named('organization')) {
      for (const role of [null, ...named('workspace')]) {
        const issued = await platform.issue({
          org_role_id: organizationRole.id,
          read_only: role?.name === 'WORKSPACE_EDITOR',
          ...(role && { role_id: role.id, workspaces: [workspaceId] }),
        });
        const { body } = await platform.verify(issued.key, { workspace_id: workspaceId });
        const questions = PERMISSIONS.map(async (permission) => {
          const question = { identity: body.claims.sub, permission, resource: workspaceId, api_key_id: issued.id };
          const answer = await askWithToken(question, admin.body.token);
          expect(answer.allowed, `${permission} of ${organizationRole.name} and ${role?.name}`).toBe(
            body.claims.permissions.includes(permission),
          );
          checked.push(permission);
        });
        await Promise.all(questions);
      }
    }
    expect(checked.length).toBeGreaterThan(200);
  });

  it('leads from the permission over role and source to the sign-in, and to what would change it', async () => {
    const identity = await provision('ada@example.com');
    const explained = await explain(identity, 'deployments:create');
    expect(explained).toMatchObject({
      allowed: true,
      identity: { id: identity, kind: 'person', name: 'Ada', disabled: false },
      resource: { type: 'workspace', id: workspaceId },
      role: { name: 'WORKSPACE_EDITOR' },
      via: 'membership',
      source: { kind: 'jit', name: 'Company' },
      decided_by: { action: 'sign_in.allowed', details: { step: 3, outcome: 'provisioned' } },
      changes: [{ change: 'remove_source', description: 'Without the source that decides, there is no role.' }],
    });
    const denied = await explain(identity, 'deployments:delete');
    expect(denied).toMatchObject({ allowed: false, role: { name: 'WORKSPACE_EDITOR' } });
    expect(denied.changes).toMatchObject([{ change: 'change_source', role_ids: [PLATFORM_ROLES.workspaceAdmin] }]);
    expect(await explain(identity, 'organization:read')).toMatchObject({
      allowed: true,
      resource: { type: 'organization', id: organizationId },
      via: 'organization_role',
      role: { name: 'ORGANIZATION_USER' },
    });
    const alias = '/api/v1/organizations/current/access/explain';
    const question = { identity, permission: 'deployments:create', resource: workspaceId };
    expect((await ask(question, undefined, alias)).body).toEqual(explained);
  });

  it('names the strongest source, and the role that would take its place', async () => {
    const identity = await provision('bob@example.com');
    await grant(identity, { source: 'manual', roleId: PLATFORM_ROLES.workspaceViewer });
    const { id } = await database.prisma.scimGroup.create({
      data: { id: uuidv7(), organizationId, displayName: 'Admins of Workspace 1' },
    });
    await grant(identity, { source: 'scim_group', sourceId: id, roleId: PLATFORM_ROLES.workspaceAdmin });
    expect(await explain(identity, 'deployments:delete')).toMatchObject({
      allowed: true,
      source: { kind: 'scim_group', id, name: 'Admins of Workspace 1' },
      changes: [{ description: 'Without the source that decides, the role is Viewer, which lacks the permission.' }],
    });
    await grant(identity, { workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin });
    expect(await explain(identity, 'deployments:delete')).toMatchObject({
      via: 'organization_administrator',
      source: { kind: 'manual' },
    });
  });

  it('of a disabled person says that nothing is allowed until the identity is enabled', async () => {
    const identity = await provision('eve@example.com');
    await database.prisma.identity.update({
      where: { id: identity },
      data: { disabledAt: new Date(), disabledBy: 'scim' },
    });
    const explained = await explain(identity, 'deployments:read');
    expect(explained).toMatchObject({
      allowed: false,
      identity: { disabled: true },
      role: { name: 'WORKSPACE_EDITOR' },
    });
    expect(explained.changes.map(({ change }) => change)).toEqual(['enable_identity']);
  });

  it('is for administrators about everybody, and for others about themselves', async () => {
    const [{ key }, other] = await Promise.all([
      platform.issue({ org_role_id: PLATFORM_ROLES.organizationUser }),
      platform.issue({}),
    ]);
    const { sub } = (await platform.verify(key)).body.claims;
    const { sub: another } = (await platform.verify(other.key)).body.claims;
    const permission = 'organization:read';
    expect(await ask({ identity: sub, permission }, key)).toMatchObject({ status: 200, body: { allowed: true } });
    const hidden = await ask({ identity: another, permission }, key);
    expect(hidden).toEqual(await ask({ identity: uuidv7(), permission }, key));
    expect(hidden).toEqual({ status: 404, body: { detail: 'Identity not found' } });
    expect((await ask({ identity: uuidv7(), permission })).status).toBe(404);
    const elsewhere = { identity: sub, permission: 'runs:read' };
    expect((await ask({ ...elsewhere, resource: uuidv7() })).status).toBe(404);
    // This member reaches every workspace, and the next one only another.
    expect((await ask({ ...elsewhere, resource: workspaceId }, key)).status).toBe(200);
    const { body: neighbours } = await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'B' });
    const neighbour = await platform.issue({ workspaces: [neighbours.id] });
    const own = { identity: (await platform.verify(neighbour.key)).body.claims.sub, permission: 'runs:read' };
    const unreached = await ask({ ...own, resource: workspaceId }, neighbour.key);
    expect(unreached).toEqual(await ask({ ...own, resource: uuidv7() }, neighbour.key));
    expect((await ask({ ...own, resource: workspaceId })).body).toMatchObject({ allowed: false, role: null });
    expect((await ask({ ...elsewhere, resource: workspaceId, api_key_id: other.id })).status).toBe(404);
    expect((await ask({ identity: sub, permission: 'runs:fly', resource: workspaceId })).status).toBe(422);
    expect((await ask(elsewhere)).status).toBe(422);
  });
});
