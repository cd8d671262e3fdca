import type { IssuedScimToken, ProvisionedGroup, ProvisionedUser, ScimToken } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask, askForAnswer } from './ask.ts';
import { at } from './path.ts';

const SCIM = at`/v1/platform/orgs/current/scim`;

/** Users or groups that a page of the lists has. */
export const PROVISIONED_PAGE = 50;

/** Users or groups that have `q` in their name. */
export interface ProvisionedSelection {
  q?: string | undefined;
  /** Counted from 1. */
  page?: number | undefined;
}

/** The valid tokens of identity providers, the newest first. */
export function scimTokensQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['scim', workspaceId, 'tokens'],
    queryFn: ({ signal }) => ask<ScimToken[]>(at`${SCIM}/tokens`, { workspaceId, signal }),
  });
}

/** The users whom identity providers keep, by address, one page of them. */
export function provisionedUsersQuery(workspaceId: string, selection: ProvisionedSelection) {
  return queryOptions({
    queryKey: ['scim', workspaceId, 'users', selection],
    queryFn: ({ signal }) => listPage<ProvisionedUser>('users', workspaceId, selection, signal),
  });
}

/** The groups that identity providers keep, by name, one page of them. */
export function provisionedGroupsQuery(workspaceId: string, selection: ProvisionedSelection) {
  return queryOptions({
    queryKey: ['scim', workspaceId, 'groups', selection],
    queryFn: ({ signal }) => listPage<ProvisionedGroup>('groups', workspaceId, selection, signal),
  });
}

/** Makes a token. The answer alone shows it. @throws PlatformError */
export function createScimToken(workspaceId: string, description: string): Promise<IssuedScimToken> {
  return ask<IssuedScimToken>(at`${SCIM}/tokens`, { method: 'POST', workspaceId, body: { description } });
}

/** @throws PlatformError */
export function describeScimToken(workspaceId: string, id: string, description: string): Promise<ScimToken> {
  return ask<ScimToken>(at`${SCIM}/tokens/${id}`, { method: 'PATCH', workspaceId, body: { description } });
}

/** Revokes a token for good. Users and groups stay as they are. @throws PlatformError */
export function revokeScimToken(workspaceId: string, id: string): Promise<void> {
  return ask<void>(at`${SCIM}/tokens/${id}`, { method: 'DELETE', workspaceId });
}

async function listPage<Item>(
  kind: 'users' | 'groups',
  workspaceId: string,
  { q, page = 1 }: ProvisionedSelection,
  signal: AbortSignal,
): Promise<{ items: Item[]; total: number }> {
  const query = { q, limit: PROVISIONED_PAGE, offset: (page - 1) * PROVISIONED_PAGE };
  const { body, headers } = await askForAnswer(at`${SCIM}/${kind}`, { workspaceId, signal, query });
  const items = body as Item[];
  return { items, total: Number(headers.get('x-pagination-total') ?? items.length) };
}
