import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { serviceAccountsQuery, serviceKeysQuery } from '../../../platform/keys.ts';
import { memberChoiceQuery } from '../../../platform/members.ts';
import { useWorkspace } from '../../../session/session.ts';

/** The names of those who act, by the ids of people, their identities, service accounts and keys. */
export function useNames(): ReadonlyMap<string, string> {
  const { id: workspaceId } = useWorkspace();
  const members = useQuery(memberChoiceQuery(workspaceId, ''));
  const accounts = useQuery(serviceAccountsQuery(workspaceId));
  const keys = useQuery(serviceKeysQuery(workspaceId));
  return useMemo(
    () =>
      new Map([
        ...(keys.data ?? []).map((key) => [key.service_account_id ?? key.id, `Key ${key.description}`] as const),
        ...(accounts.data ?? []).map(({ id, name }) => [id, name] as const),
        ...(members.data ?? []).flatMap(({ id, ls_user_id: personId, display_name: name }) => [
          [id, name] as const,
          [personId, name] as const,
        ]),
      ]),
    [members.data, accounts.data, keys.data],
  );
}
