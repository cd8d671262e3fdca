import { PLATFORM_ROLES } from './platform-roles.ts';

/**
 * The sources of grants, the strongest first: groups of SCIM override what administrators assign by hand, and
 * that overrides what sign-in assigns.
 */
export const GRANT_SOURCES = [
  'scim_group',
  'manual',
  'invite',
  'bootstrap',
  'sso_group',
  'jit',
  /** The role of people whom SCIM creates and puts into no group. */
  'scim',
] as const;
export type GrantSource = (typeof GRANT_SOURCES)[number];

/** A reason why a person has a role. */
export interface Grant {
  /** Null: the role is one of the organization. */
  workspaceId: string | null;
  roleId: string;
  source: GrantSource;
  /** The group, invite or provider that it comes from. */
  sourceId: string | null;
  /** When its source was created. */
  sourceCreatedAt: Date;
}

/** The roles that follow from a person's grants, each with the grant that decided. */
export interface EffectiveRoles {
  /** Null: no grant gives one. */
  organization: Grant | null;
  /** By workspace id. */
  workspaces: ReadonlyMap<string, Grant>;
}

/** Returns for the organization and for each workspace the grant that decides. Pure: the same grants, the same roles. */
export function effectiveRoles(grants: readonly Grant[]): EffectiveRoles {
  const workspaces = new Map<string, Grant>();
  let organization: Grant | null = null;
  for (const grant of grants) {
    if (grant.workspaceId === null) {
      if (organization === null || isStronger(grant, organization)) organization = grant;
      continue;
    }
    const current = workspaces.get(grant.workspaceId);
    if (current === undefined || isStronger(grant, current)) workspaces.set(grant.workspaceId, grant);
  }
  return { organization, workspaces };
}

/** The role of a person in whose organization no grant gives one. */
export const ROLE_WITHOUT_GRANT = PLATFORM_ROLES.organizationViewer;

function isStronger(grant: Grant, other: Grant): boolean {
  const bySource = GRANT_SOURCES.indexOf(grant.source) - GRANT_SOURCES.indexOf(other.source);
  if (bySource !== 0) return bySource < 0;
  // A group of administrators wins however old it is; of other groups the newest.
  const byAdministration = Number(isOfAdministrators(grant)) - Number(isOfAdministrators(other));
  if (byAdministration !== 0) return byAdministration > 0;
  const byAge = grant.sourceCreatedAt.getTime() - other.sourceCreatedAt.getTime();
  if (byAge !== 0) return byAge > 0;
  return (grant.sourceId ?? '') > (other.sourceId ?? '');
}

function isOfAdministrators({ roleId }: Grant): boolean {
  return roleId === PLATFORM_ROLES.organizationAdmin;
}
