import type { PendingOrganization, SessionInfo } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';

/** The sessions of the person, the one used last first. */
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => ask<SessionInfo[]>(at`/api/v1/sessions`, { signal }),
});

/** The organizations that invite the person. */
export const myInvitesQuery = queryOptions({
  queryKey: ['my-invites'],
  queryFn: ({ signal }) => ask<PendingOrganization[]>(at`/api/v1/orgs/pending`, { signal }),
});

/** @throws PlatformError */
export function endSession(id: string): Promise<void> {
  return ask<void>(at`/api/v1/sessions/${id}`, { method: 'DELETE' });
}

/** Ends all sessions but this one. @throws PlatformError */
export function endOtherSessions(): Promise<{ ended: number }> {
  return ask<{ ended: number }>(at`/api/v1/sessions`, { method: 'DELETE' });
}

/** Chooses the organization in which requests of this session act that name none. @throws PlatformError */
export function chooseOrganization(organizationId: string): Promise<SessionInfo> {
  const body = { organization_id: organizationId };
  return ask<SessionInfo>(at`/api/v1/sessions/current/organization`, { method: 'PUT', body });
}

/** @throws PlatformError */
export function acceptInvite(organizationId: string): Promise<unknown> {
  return ask(at`/api/v1/orgs/pending/${organizationId}/claim`, { method: 'POST' });
}

/** @throws PlatformError */
export function declineInvite(organizationId: string): Promise<unknown> {
  return ask(at`/api/v1/orgs/pending/${organizationId}`, { method: 'DELETE' });
}
