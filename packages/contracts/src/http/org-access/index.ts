import type { Operation } from '../../operation.ts';
import { personalTokenOperations, serviceKeyOperations, workspaceKeyOperations } from './api-keys.ts';
import {
  bootstrap,
  checkReach,
  getSigningKeys,
  listOrganizations,
  setOrganizationPlan,
  verifyKey,
} from './internal.ts';
import { getOrganizationInfo, updateOrganizationInfo } from './organizations.ts';
import { listRoles } from './roles.ts';
import { scimTokenOperations } from './scim-tokens.ts';
import { createWorkspace, listWorkspaces } from './workspaces.ts';

/** Every operation of org-access. */
export const orgAccessOperations: readonly Operation[] = [
  ...getOrganizationInfo,
  ...updateOrganizationInfo,
  ...listRoles,
  listWorkspaces,
  createWorkspace,
  ...[...serviceKeyOperations, ...personalTokenOperations, workspaceKeyOperations].flatMap((kind) =>
    Object.values(kind),
  ),
  ...scimTokenOperations.flatMap((operations) => Object.values(operations)),
  verifyKey,
  checkReach,
  listOrganizations,
  setOrganizationPlan,
  bootstrap,
  getSigningKeys,
];

export * from './api-keys.ts';
export * from './audit-event.ts';
export * from './internal.ts';
export * from './organizations.ts';
export * from './platform-errors.ts';
export * from './roles.ts';
export * from './scim-tokens.ts';
export * from './workspaces.ts';
