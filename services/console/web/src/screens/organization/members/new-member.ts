import type { BasicMemberCreate, PendingIdentityCreate } from '@runyard/contracts';

/** The form of a person who is added, as typed. */
export interface NewMemberForm {
  /** By an invite, at once without an account, or at once with an account that has a password. */
  how: 'invite' | 'direct' | 'account';
  email: string;
  name: string;
  /** Empty: the default of the platform. */
  roleId: string;
  workspaceIds: string[];
  /** Empty: the default of the platform. */
  workspaceRoleId: string;
}

export const EMPTY: NewMemberForm = {
  how: 'invite',
  email: '',
  name: '',
  roleId: '',
  workspaceIds: [],
  workspaceRoleId: '',
};

/** Returns the request that adds the person. Fields that are left empty stay out, so that the platform's defaults hold. */
export function requestOf(form: NewMemberForm): PendingIdentityCreate & BasicMemberCreate {
  const { how, email, name, roleId, workspaceIds, workspaceRoleId } = form;
  return {
    email: email.trim(),
    ...(name.trim() !== '' && { full_name: name.trim() }),
    ...(roleId !== '' && { role_id: roleId }),
    ...(workspaceIds.length > 0 && { workspace_ids: workspaceIds }),
    ...(workspaceIds.length > 0 && workspaceRoleId !== '' && { workspace_role_id: workspaceRoleId }),
    ...(how === 'direct' && { direct: true }),
  };
}
