import { useQuery } from '@tanstack/react-query';
import { deploymentsQuery } from '../../platform/deployments.ts';
import { personalTokensQuery, serviceAccountsQuery, serviceKeysQuery } from '../../platform/keys.ts';
import { membersQuery } from '../../platform/members.ts';
import { nameOf } from '../deployments/deployment-list.ts';

/** Returns a function that gives the name of an id, where the person may know it; else the id itself. */
export function useNames(workspaceId: string): (id: string) => string {
  const deployments = useQuery(deploymentsQuery(workspaceId));
  const keys = useQuery({ ...serviceKeysQuery(workspaceId), retry: false });
  const tokens = useQuery({ ...personalTokensQuery(workspaceId), retry: false });
  const accounts = useQuery({ ...serviceAccountsQuery(workspaceId), retry: false });
  const members = useQuery({ ...membersQuery(workspaceId, {}), retry: false });
  const names = new Map<string, string>([
    ...(deployments.data ?? []).map((deployment) => [deployment.id, nameOf(deployment)] as const),
    ...[...(keys.data ?? []), ...(tokens.data ?? [])].map(({ id, description }) => [id, description] as const),
    ...(accounts.data ?? []).map(({ id, name }) => [id, name] as const),
    ...(members.data?.items ?? []).map(({ id, full_name, email }) => [id, full_name ?? email ?? id] as const),
  ]);
  return (id) => names.get(id) ?? id;
}
