import { expect, it } from 'vitest';
import { roleChanges } from './role-changes.ts';

const BEFORE = { organization: 'user', workspaces: { a: 'editor', b: 'viewer' } };

it('roles that stay are not asked for again', () => {
  expect(roleChanges(BEFORE, BEFORE)).toEqual({ workspaces: [] });
});

it('a role is given, changed and taken away in the workspaces concerned alone', () => {
  expect(roleChanges(BEFORE, { organization: 'user', workspaces: { a: 'admin', b: '', c: 'viewer' } })).toEqual({
    workspaces: [
      { workspaceId: 'a', roleId: 'admin' },
      { workspaceId: 'b', roleId: null },
      { workspaceId: 'c', roleId: 'viewer' },
    ],
  });
});

it('the role in the organization changes where another one was chosen', () => {
  expect(roleChanges(BEFORE, { ...BEFORE, organization: 'viewer' })).toEqual({
    organization: 'viewer',
    workspaces: [],
  });
});
