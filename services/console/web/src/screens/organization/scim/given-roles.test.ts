import { expect, it } from 'vitest';
import { disablement, rolesOfGroup, rolesOfUser } from './given-roles.ts';

const editor = { workspace_id: 'w1', workspace_name: 'Sales', role_id: 'e', role_name: 'Editor' };
const user = { workspace_id: null, workspace_name: null, role_id: 'u', role_name: 'Organization User' };

it('roles of the organization are told apart from those in a workspace', () => {
  expect(rolesOfGroup({ roles: [user, editor] })).toBe('Organization User, Editor in Sales');
  expect(rolesOfGroup({ roles: [] })).toBeNull();
  expect(rolesOfUser({ role_name: 'Organization User', workspaces: [editor] })).toBe(
    'Organization User, Editor in Sales',
  );
});

it('who switched a person off is said', () => {
  expect(disablement({ is_active: false, is_disabled: true })).toContain('identity provider');
  expect(disablement({ is_active: true, is_disabled: true })).toContain('administrator');
  expect(disablement({ is_active: true, is_disabled: false })).toBeUndefined();
});
