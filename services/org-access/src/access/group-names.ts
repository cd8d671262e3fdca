import { PLATFORM_ROLES } from './platform-roles.ts';

/** The roles that membership of a group gives, by the name of the group. */
export type GroupMeaning =
  | { kind: 'administrators' }
  | { kind: 'workspace'; organizationRoleId: string; workspaceId: string; workspaceRoleId: string };

/** Names of groups refer to these. */
export interface GroupNameContext {
  /** One character: `scim_group_name_separator` of the organization. */
  separator: string;
  /** Workspaces that are not deleted, the oldest first: of two with one name the first counts. */
  workspaces: readonly { id: string; displayName: string }[];
  /** Workspace roles of the platform and of the organization. */
  workspaceRoles: readonly { id: string; displayName: string }[];
}

/** Characters of a name that can mean something. Identity providers choose names, and longer ones take ever longer to read. */
const NAME_MAX = 1_024;
const ADMINISTRATORS = /organization admins?$/i;

/** The organization roles that a workspace group may name, as they are written in names. */
const ORGANIZATION_ROLES: readonly { text: string; id: string }[] = [
  { text: 'organization admin', id: PLATFORM_ROLES.organizationAdmin },
  { text: 'organization operator', id: PLATFORM_ROLES.organizationOperator },
  { text: 'organization user', id: PLATFORM_ROLES.organizationUser },
  { text: 'organization viewer', id: PLATFORM_ROLES.organizationViewer },
];

/**
 * Returns what a group means by its name; null: nothing, and the group gives no role. A name is
 * `<prefix>Organization Admin` (or `…Admins`), or
 * `<prefix><organization role><separator><workspace><separator><workspace role>`, in any case of letters. Where names
 * contain the separator themselves, the first split counts for which both workspace and role exist.
 */
export function readGroupName(name: string, context: GroupNameContext): GroupMeaning | null {
  if (name.length > NAME_MAX) return null;
  const text = name.normalize('NFC').trim();
  if (ADMINISTRATORS.test(text)) return { kind: 'administrators' };
  const lower = text.toLowerCase();
  let names: { workspaces: NameIndex; roles: NameIndex } | undefined;
  for (const { text: role, id: organizationRoleId } of ORGANIZATION_ROLES) {
    const marker = role + context.separator.toLowerCase();
    for (let start = lower.indexOf(marker); start >= 0; start = lower.indexOf(marker, start + 1)) {
      names ??= { workspaces: new NameIndex(context.workspaces), roles: new NameIndex(context.workspaceRoles) };
      const place = splitWorkspaceAndRole(text.slice(start + marker.length), context.separator, names);
      if (place) return { kind: 'workspace', organizationRoleId, ...place };
    }
  }
  return null;
}

/** A role that a group gives; the workspace is null for one of the organization. */
export interface GroupRole {
  workspaceId: string | null;
  roleId: string;
}

/** Returns the roles that a group gives by its name; a name that means nothing gives none. */
export function rolesOfGroup(name: string, context: GroupNameContext): GroupRole[] {
  const meaning = readGroupName(name, context);
  if (meaning === null) return [];
  if (meaning.kind === 'administrators') return [{ workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin }];
  return [
    { workspaceId: null, roleId: meaning.organizationRoleId },
    { workspaceId: meaning.workspaceId, roleId: meaning.workspaceRoleId },
  ];
}

function splitWorkspaceAndRole(
  text: string,
  separator: string,
  { workspaces, roles }: { workspaces: NameIndex; roles: NameIndex },
): { workspaceId: string; workspaceRoleId: string } | null {
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) {
    if (at > workspaces.longest) return null;
    const workspaceId = workspaces.find(text.slice(0, at));
    const workspaceRoleId = workspaceId && roles.find(text.slice(at + separator.length));
    if (workspaceRoleId) return { workspaceId, workspaceRoleId };
  }
  return null;
}

/** Finds ids by names. It prefers the exact name, as identity providers change the case of letters, and then the first. */
class NameIndex {
  /** The length of the longest name. */
  readonly longest: number;
  readonly #exact = new Map<string, string>();
  readonly #folded = new Map<string, string>();

  constructor(named: readonly { id: string; displayName: string }[]) {
    let longest = 0;
    for (const { id, displayName } of named) {
      const folded = displayName.toLowerCase();
      if (!this.#exact.has(displayName)) this.#exact.set(displayName, id);
      if (!this.#folded.has(folded)) this.#folded.set(folded, id);
      longest = Math.max(longest, displayName.length, folded.length);
    }
    this.longest = longest;
  }

  find(name: string): string | undefined {
    return this.#exact.get(name) ?? this.#folded.get(name.toLowerCase());
  }
}
