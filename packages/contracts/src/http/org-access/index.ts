import type { Operation } from '../../operation.ts';
import { explainAccess } from './access.ts';
import { accessPolicyAttachments, accessPolicyOperations } from './access-policies.ts';
import {
  ownTokenOperations,
  personalTokenOperations,
  rotateServiceKey,
  serviceKeyOperations,
  updateServiceKey,
  workspaceKeyOperations,
} from './api-keys.ts';
import { exportAuditLogs, getAuditLogs, listAuditLogs, verifyAuditLogs } from './audit.ts';
import { consoleOperations } from './console.ts';
import { getPlatformInfo } from './info.ts';
import {
  bootstrap,
  checkReach,
  decideAccess,
  findTaggedResources,
  getSigningKeys,
  listOrganizations,
  setOrganizationPlan,
  verifyKey,
} from './internal.ts';
import { findDeletedWorkspaces } from './internal-workspaces.ts';
import { claimMyInvite, declineMyInvite, listMyInvites } from './invites.ts';
import { listEnrichedMembers, memberOperations } from './members.ts';
import { programOperations } from './oauth.ts';
import {
  createOrganization,
  currentOrganizationOperations,
  getOrganizationInfo,
  listMyOrganizations,
  updateOrganizationInfo,
} from './organizations.ts';
import { pageOperations } from './pages.ts';
import { passkeyOperations } from './passkeys.ts';
import { createRole, deleteRole, listPermissions, listRoles, updateRole } from './roles.ts';
import { scimOperations } from './scim.ts';
import { scimProvisionedOperations } from './scim-provisioned.ts';
import { scimTokenOperations } from './scim-tokens.ts';
import { createServiceAccount, deleteServiceAccount, listServiceAccounts } from './service-accounts.ts';
import { sessionOperations } from './sessions.ts';
import { getSsoSettingsBySlug, lookUpSsoEmail, ssoSettingsOperations } from './sso.ts';
import { confirmSsoEmail, getSsoEmailVerificationStatus, sendSsoEmailVerification } from './sso-email-verification.ts';
import { ssoSignInOperations } from './sso-sign-in.ts';
import { testSsoSettings } from './sso-test.ts';
import {
  createTagging,
  deleteTagging,
  listResourceTags,
  listTaggings,
  listTags,
  tagKeyOperations,
  tagValueOperations,
} from './tags.ts';
import { getWorkspaceStats, getWorkspaceUsageLimits, listWorkspaceShares } from './workspace-figures.ts';
import { workspaceMemberOperations } from './workspace-members.ts';
import { listWorkspaceSecrets, readWorkspaceSecrets, setWorkspaceSecrets } from './workspace-secrets.ts';
import { createWorkspace, deleteWorkspace, listWorkspaces, updateWorkspace } from './workspaces.ts';

/** Every operation of org-access. */
export const orgAccessOperations: readonly Operation[] = [
  ...getOrganizationInfo,
  ...updateOrganizationInfo,
  ...listMyOrganizations,
  ...createOrganization,
  ...listMyInvites,
  ...claimMyInvite,
  ...declineMyInvite,
  ...listEnrichedMembers,
  ...currentOrganizationOperations.flatMap((operations) => Object.values(operations)),
  ...listRoles,
  ...ssoSettingsOperations.flatMap((prefix) => Object.values(prefix)),
  ...testSsoSettings,
  getSsoSettingsBySlug,
  lookUpSsoEmail,
  sendSsoEmailVerification,
  getSsoEmailVerificationStatus,
  confirmSsoEmail,
  ...ssoSignInOperations,
  ...memberOperations.flatMap((operations) => Object.values(operations)),
  ...createRole,
  ...updateRole,
  ...deleteRole,
  ...listPermissions,
  listWorkspaces,
  createWorkspace,
  updateWorkspace,
  deleteWorkspace,
  getWorkspaceStats,
  getWorkspaceUsageLimits,
  listWorkspaceShares,
  ...workspaceMemberOperations,
  listWorkspaceSecrets,
  setWorkspaceSecrets,
  ...[...serviceKeyOperations, ...personalTokenOperations, workspaceKeyOperations, ownTokenOperations].flatMap((kind) =>
    Object.values(kind),
  ),
  ...updateServiceKey,
  ...rotateServiceKey,
  listServiceAccounts,
  createServiceAccount,
  deleteServiceAccount,
  ...scimOperations,
  ...scimTokenOperations.flatMap((operations) => Object.values(operations)),
  ...scimProvisionedOperations.flatMap((operations) => Object.values(operations)),
  ...Object.values(tagKeyOperations),
  ...Object.values(tagValueOperations),
  createTagging,
  listTaggings,
  deleteTagging,
  listTags,
  listResourceTags,
  ...explainAccess,
  ...listAuditLogs,
  ...exportAuditLogs,
  ...verifyAuditLogs,
  getAuditLogs,
  ...Object.values(sessionOperations),
  ...programOperations,
  ...pageOperations,
  ...Object.values(passkeyOperations),
  getPlatformInfo,
  ...[...accessPolicyOperations, ...accessPolicyAttachments].flatMap((operations) => Object.values(operations)),
  verifyKey,
  checkReach,
  decideAccess,
  findTaggedResources,
  findDeletedWorkspaces,
  readWorkspaceSecrets,
  listOrganizations,
  setOrganizationPlan,
  bootstrap,
  ...consoleOperations,
  getSigningKeys,
];

export * from './access.ts';
export * from './access-policies.ts';
export * from './api-keys.ts';
export * from './audit.ts';
export * from './audit-event.ts';
export * from './console.ts';
export * from './info.ts';
export * from './internal.ts';
export * from './internal-workspaces.ts';
export * from './invites.ts';
export * from './member-bodies.ts';
export * from './members.ts';
export * from './oauth.ts';
export * from './ocsf.ts';
export * from './organizations.ts';
export * from './pages.ts';
export * from './passkey-pages.ts';
export * from './passkeys.ts';
export * from './platform-errors.ts';
export * from './roles.ts';
export * from './scim.ts';
export * from './scim-provisioned.ts';
export * from './scim-tokens.ts';
export * from './service-accounts.ts';
export * from './sessions.ts';
export * from './sso.ts';
export * from './sso-email-verification.ts';
export * from './sso-sign-in.ts';
export * from './sso-test.ts';
export * from './tags.ts';
export * from './workspace-figures.ts';
export * from './workspace-members.ts';
export * from './workspace-secrets.ts';
export * from './workspaces.ts';
