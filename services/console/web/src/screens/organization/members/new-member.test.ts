import { expect, it } from 'vitest';
import { EMPTY, requestOf } from './new-member.ts';

it('fields that were left empty stay out of the request, so that the defaults of the platform hold', () => {
  expect(requestOf({ ...EMPTY, email: ' ada@example.com ' })).toEqual({ email: 'ada@example.com' });
});

it('a role in workspaces is sent with workspaces alone', () => {
  expect(requestOf({ ...EMPTY, email: 'a@b', workspaceRoleId: 'r' })).toEqual({ email: 'a@b' });
  expect(requestOf({ ...EMPTY, email: 'a@b', workspaceIds: ['w'], workspaceRoleId: 'r' })).toEqual({
    email: 'a@b',
    workspace_ids: ['w'],
    workspace_role_id: 'r',
  });
});

it('only who is added at once is added without an invite', () => {
  expect(requestOf({ ...EMPTY, how: 'direct', email: 'a@b' })).toEqual({ email: 'a@b', direct: true });
  expect(requestOf({ ...EMPTY, how: 'account', email: 'a@b' })).toEqual({ email: 'a@b' });
});
