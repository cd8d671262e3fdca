import type { ServiceKeyCreate } from '@runyard/contracts';
import type { Expiry } from '../parts/expiry.ts';

/** The form of a new service key. */
export interface NewKeyForm {
  description: string;
  isReadOnly: boolean;
  expiry: Expiry;
  reach: 'organization' | 'workspaces';
  workspaceIds: string[];
  /** Empty, as the following ones: the default of the platform. */
  roleId: string;
  orgRoleId: string;
  defaultWorkspaceId: string;
  /** The account of which it is one more key; empty: an account of its own. */
  accountId: string;
}

/**
 * Returns the request that makes the key.
 *
 * @throws Error where no workspace is chosen: without any the platform makes a key of the whole organization
 */
export function requestOf(form: NewKeyForm, expiresAt: string | null): ServiceKeyCreate {
  const shared = {
    description: form.description.trim(),
    read_only: form.isReadOnly,
    expires_at: expiresAt,
    ...(form.defaultWorkspaceId !== '' && { default_workspace_id: form.defaultWorkspaceId }),
  };
  // An account has its workspaces and roles: the platform refuses others.
  if (form.accountId !== '') return { ...shared, service_account_id: form.accountId };
  if (form.reach === 'workspaces' && form.workspaceIds.length === 0)
    throw new Error('Choose the workspaces in which the key works');
  return {
    ...shared,
    ...(form.reach === 'workspaces' && { workspaces: form.workspaceIds }),
    ...(form.roleId !== '' && { role_id: form.roleId }),
    ...(form.orgRoleId !== '' && { org_role_id: form.orgRoleId }),
  };
}
