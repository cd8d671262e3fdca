import { expect, it } from 'vitest';
import { type NewKeyForm, requestOf } from './new-key.ts';

const FORM: NewKeyForm = {
  description: ' CI ',
  isReadOnly: true,
  expiry: { after: 'never', date: '' },
  reach: 'workspaces',
  workspaceIds: ['w'],
  roleId: '',
  orgRoleId: '',
  defaultWorkspaceId: '',
  accountId: '',
};

it('a key of certain workspaces is never made for the whole organization because none is chosen', () => {
  expect(requestOf(FORM, null)).toEqual({ description: 'CI', read_only: true, expires_at: null, workspaces: ['w'] });
  expect(() => requestOf({ ...FORM, workspaceIds: [] }, null)).toThrow('Choose the workspaces');
});

it('a key of the whole organization names no workspaces, also where some were chosen before', () => {
  expect(requestOf({ ...FORM, reach: 'organization' }, null)).not.toHaveProperty('workspaces');
});

it('one more key of an account has the workspaces and roles of the account', () => {
  expect(requestOf({ ...FORM, accountId: 'a', roleId: 'r' }, null)).toEqual({
    description: 'CI',
    read_only: true,
    expires_at: null,
    service_account_id: 'a',
  });
});
