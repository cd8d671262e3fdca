import type {
  BasicMember,
  BasicMemberCreate,
  EnrichedMember,
  MemberUpdate,
  NewMember,
  OrgMember,
  PendingIdentityCreate,
  PendingMember,
  WorkspaceMember,
} from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask, askForAnswer } from './ask.ts';
import { at } from './path.ts';

/** Members and invites that a page of the lists has. */
export const MEMBERS_PAGE = 50;
/** People among whom one is chosen: of more than these one is found by a part of the name. */
const CHOICE_MAX = 100;

/** Members or invites of an organization: those that have `q` in their name or address. */
export interface MemberSelection {
  q?: string | undefined;
  /** Counted from 1. */
  page?: number | undefined;
}

export interface PageOf<Item> {
  items: Item[];
  total: number;
}

/** The members of the organization, by name, one page of them. */
export function membersQuery(workspaceId: string, selection: MemberSelection) {
  return queryOptions({
    queryKey: ['members', workspaceId, 'active', selection],
    queryFn: ({ signal }) => listPage<OrgMember>('active', workspaceId, selection, signal),
  });
}

/** The invites that wait for their people, one page of them. */
export function invitesQuery(workspaceId: string, selection: MemberSelection) {
  return queryOptions({
    queryKey: ['members', workspaceId, 'pending', selection],
    queryFn: ({ signal }) => listPage<PendingMember>('pending', workspaceId, selection, signal),
  });
}

/** Members among whom one is chosen, by name. */
export function memberChoiceQuery(workspaceId: string, q: string) {
  return queryOptions({
    queryKey: ['members', workspaceId, 'choice', q],
    queryFn: ({ signal }) =>
      ask<OrgMember[]>(at`/api/v1/orgs/current/members/active`, {
        workspaceId,
        signal,
        query: { q: q || undefined, limit: CHOICE_MAX, sort_by: 'name', sort_by_desc: false },
      }),
    staleTime: 30_000,
  });
}

/** The member that a person is in the organization; null where they are none. */
export function memberOfPersonQuery(workspaceId: string, personId: string) {
  return queryOptions({
    queryKey: ['members', workspaceId, 'person', personId],
    queryFn: async ({ signal }) => {
      const query = { ls_user_ids: personId, limit: 1 };
      const found = await ask<OrgMember[]>(at`/api/v1/orgs/current/members/active`, { workspaceId, signal, query });
      return found[0] ?? null;
    },
    staleTime: 5_000,
  });
}

/** A member with the workspaces and groups that give roles; null where it is no member any more. */
export function memberRolesQuery(workspaceId: string, { id, email }: Pick<OrgMember, 'id' | 'email'>) {
  return queryOptions({
    queryKey: ['members', workspaceId, 'roles', id],
    queryFn: async ({ signal }) => {
      const query = { email_like: email, active_is: true, limit: MEMBERS_PAGE };
      const found = await ask<EnrichedMember[]>(at`/v1/platform/orgs/current/members`, { workspaceId, signal, query });
      return found.find((member) => member.id === id) ?? null;
    },
  });
}

/** Invites a person, or makes them a member at once. Repeated with the same key, it is done once. @throws PlatformError */
export function addMember(workspaceId: string, body: PendingIdentityCreate, key: string): Promise<NewMember> {
  const headers = { 'idempotency-key': key };
  return ask<NewMember>(at`/api/v1/orgs/current/members`, { method: 'POST', workspaceId, body, headers });
}

/** Makes a member whose account has a password. The answer alone shows it. @throws PlatformError */
export async function addAccount(workspaceId: string, body: BasicMemberCreate, key: string): Promise<BasicMember> {
  const path = at`/api/v1/orgs/current/members/basic/batch`;
  const headers = { 'idempotency-key': key };
  const made = await ask<BasicMember[]>(path, { method: 'POST', workspaceId, body: [body], headers });
  return made[0]!;
}

/** @throws PlatformError */
export function updateMember(workspaceId: string, id: string, body: MemberUpdate): Promise<OrgMember> {
  return ask<OrgMember>(at`/api/v1/orgs/current/members/${id}`, { method: 'PATCH', workspaceId, body });
}

/** @throws PlatformError */
export function removeMember(workspaceId: string, id: string): Promise<OrgMember> {
  return ask<OrgMember>(at`/api/v1/orgs/current/members/${id}`, { method: 'DELETE', workspaceId });
}

/** @throws PlatformError */
export function withdrawInvite(workspaceId: string, id: string): Promise<PendingMember> {
  return ask<PendingMember>(at`/api/v1/orgs/current/members/${id}/pending`, { method: 'DELETE', workspaceId });
}

/**
 * Gives a member a role in a workspace, another one, or none (`roleId` null).
 *
 * @param workspaceId the workspace in which the role is
 * @throws PlatformError
 */
export async function setWorkspaceRole(
  workspaceId: string,
  member: { id: string; personId: string },
  roleId: string | null,
): Promise<void> {
  const path = at`/api/v1/workspaces/current/members`;
  const query = { ls_user_ids: member.personId, limit: 1 };
  // A workspace has a list of its own, with ids of its own.
  const [there] = await ask<WorkspaceMember[]>(at`${path}/active`, { workspaceId, query });
  if (!there && roleId !== null) {
    const body = { org_identity_id: member.id, role_id: roleId };
    await ask(path, { method: 'POST', workspaceId, body });
  } else if (there && roleId === null) {
    await ask(at`${path}/${there.id}`, { method: 'DELETE', workspaceId });
  } else if (there) {
    await ask(at`${path}/${there.id}`, { method: 'PATCH', workspaceId, body: { role_id: roleId } });
  }
}

async function listPage<Item>(
  kind: 'active' | 'pending',
  workspaceId: string,
  { q, page = 1 }: MemberSelection,
  signal: AbortSignal,
): Promise<PageOf<Item>> {
  const { body, headers } = await askForAnswer(at`/api/v1/orgs/current/members/${kind}`, {
    workspaceId,
    signal,
    query: { q, limit: MEMBERS_PAGE, offset: (page - 1) * MEMBERS_PAGE, sort_by: 'name', sort_by_desc: false },
  });
  const items = body as Item[];
  return { items, total: Number(headers.get('x-pagination-total') ?? items.length) };
}
