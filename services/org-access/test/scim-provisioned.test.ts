import type { ProvisionedGroup, ProvisionedUser } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestOrgAccess } from './support/platform.ts';
import { ScimClient } from './support/scim-client.ts';

const USERS = '/v1/platform/orgs/current/scim/users';
const GROUPS = '/v1/platform/orgs/current/scim/groups';

let platform: TestOrgAccess;
let scim: ScimClient;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  scim = await ScimClient.create(platform);
});
afterAll(() => platform?.close());

describe('users and groups of identity providers', () => {
  it('are listed with the roles that they have and give', async () => {
    const { body: ada } = await scim.createUser('ada');
    await scim.createUser('grace', { active: false });
    const { display_name: workspace } = (
      await platform.asAdmin<{ display_name: string }[]>('GET', '/api/v1/workspaces')
    ).body[0]!;
    const name = `Organization User:${workspace}:Editor`;
    await scim.createGroup(name, [ada.id]);
    await scim.createGroup('Football');

    const users = (await platform.asAdmin<ProvisionedUser[]>('GET', `/api${USERS}`)).body;
    expect(users.map(({ email }) => email)).toEqual(['ada@example.com', 'grace@example.com']);
    expect(users[0]).toMatchObject({
      id: ada.id,
      user_name: 'ada',
      external_id: 'external ada',
      is_active: true,
      is_disabled: false,
      role_id: PLATFORM_ROLES.organizationUser,
      workspaces: [{ workspace_id: platform.bootstrap.workspace_id, role_id: PLATFORM_ROLES.workspaceEditor }],
      groups: [name],
    });
    expect(users[1]).toMatchObject({ is_active: false, is_disabled: true, workspaces: [], groups: [] });

    const groups = (await platform.asAdmin<ProvisionedGroup[]>('GET', GROUPS)).body;
    expect(groups).toMatchObject([
      { display_name: 'Football', member_count: 0, roles: [] },
      {
        display_name: name,
        member_count: 1,
        roles: [
          { workspace_id: null, workspace_name: null, role_id: PLATFORM_ROLES.organizationUser },
          { workspace_id: platform.bootstrap.workspace_id, role_name: 'Editor' },
        ],
      },
    ]);
  });

  it('are found by a part of the name, and come in pages', async () => {
    const found = await platform.asAdmin<ProvisionedUser[]>('GET', `${USERS}?q=GRACE@`);
    expect(found.body.map(({ user_name: name }) => name)).toEqual(['grace']);
    const page = await platform.asAdmin<ProvisionedGroup[]>('GET', `${GROUPS}?limit=1&offset=1`);
    expect(page.body.map(({ member_count: count }) => count)).toEqual([1]);
    expect((await platform.asAdmin<ProvisionedGroup[]>('GET', `${GROUPS}?q=%25`)).body).toEqual([]);
  });

  it('are shown to members of the organization', async () => {
    const { key } = await platform.issue({ org_role_id: PLATFORM_ROLES.organizationUser });
    expect((await platform.call(key, 'GET', USERS)).status).toBe(200);
  });
});
