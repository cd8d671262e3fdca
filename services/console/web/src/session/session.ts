import type { SignedInPerson, Workspace } from '@runyard/contracts';
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { ask, PlatformError } from '../platform/ask.ts';
import { at } from '../platform/path.ts';
import { RIGHTS_EVERY_MS } from '../platform/rights.ts';

export const personQuery = queryOptions({
  queryKey: ['person'],
  queryFn: ({ signal }) => findPerson(signal),
  staleTime: 60_000,
});

/** @throws PlatformError with status 401 where nobody is signed in */
async function findPerson(signal: AbortSignal): Promise<SignedInPerson> {
  // Browsers report every refusal to whoever looks at the page, and to have no session is none.
  const response = await fetch('/auth/session', { signal });
  const { is_signed_in: isSignedIn } = (await response.json()) as { is_signed_in: boolean };
  if (!isSignedIn) throw new PlatformError(401, 'Sign in first');
  return ask<SignedInPerson>(at`/auth/public`, { signal });
}

/** The workspaces that the person reaches, with what they may do in each. */
export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: ({ signal }) => ask<Workspace[]>(at`/api/v1/workspaces`, { signal }),
  staleTime: RIGHTS_EVERY_MS,
  refetchInterval: RIGHTS_EVERY_MS,
});

export interface CurrentWorkspace {
  id: string;
  name: string;
  /** Returns whether the person may do something here. */
  may(permission: string): boolean;
}

/** The workspace in the address of the page. Pages below it are shown only where the person reaches it. */
export function useWorkspace(): CurrentWorkspace {
  const { workspaceId } = useParams({ strict: false }) as { workspaceId: string };
  const { data } = useSuspenseQuery(workspacesQuery);
  const workspace = data.find(({ id }) => id === workspaceId);
  const permissions = new Set(workspace?.permissions ?? []);
  return {
    id: workspaceId,
    name: workspace?.display_name ?? 'Unknown workspace',
    may: (permission) => permissions.has(permission),
  };
}

/** Leads to where people sign in, and back to this page. */
export function signIn(): void {
  const { pathname, search } = window.location;
  window.location.assign(`/auth/start?return_to=${encodeURIComponent(pathname + search)}`);
}

/** Signs this browser out, everywhere. @throws PlatformError, TypeError when nobody answers */
export async function signOut(): Promise<void> {
  const response = await fetch('/auth/sign-out', { method: 'POST', credentials: 'same-origin' });
  if (!response.ok) throw new PlatformError(response.status, 'You are still signed in: try again');
  const { logout_url: elsewhere } = (await response.json()) as { logout_url: string | null };
  window.location.assign(elsewhere ?? '/signed-out');
}
