import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { personalTokensQuery, serviceAccountsQuery, serviceKeysQuery } from '../../../platform/keys.ts';
import { memberChoiceQuery, memberOfPersonQuery } from '../../../platform/members.ts';
import { personQuery } from '../../../session/session.ts';
import { type Choice, identityChoices, keyChoices } from './choices.ts';

export interface Identities {
  identities: Choice[];
  /** The keys of the identity that is chosen. */
  keys: Choice[];
  /** True where a person is chosen who is another than the one who asks: their tokens are theirs alone. */
  isPersonal: boolean;
  error: unknown;
}

/** The people and programs that one may ask about, whose names have `q` in them, and the keys of the chosen one. */
export function useIdentities(
  workspaceId: string,
  { identity, q = '' }: { identity: string | undefined; q: string | undefined },
): Identities {
  const { data: person } = useQuery(personQuery);
  const personId = person?.ls_user_id ?? '';
  const own = useQuery({ ...memberOfPersonQuery(workspaceId, personId), enabled: personId !== '' });
  const members = useQuery({ ...memberChoiceQuery(workspaceId, q), placeholderData: keepPreviousData });
  const accounts = useQuery(serviceAccountsQuery(workspaceId));
  const serviceKeys = useQuery(serviceKeysQuery(workspaceId));
  const tokens = useQuery(personalTokensQuery(workspaceId));
  const ownId = own.data?.id;
  return {
    identities: identityChoices(members.data ?? [], accounts.data ?? [], serviceKeys.data ?? [], q),
    keys: keyChoices(identity, { identity: ownId, tokens: tokens.data ?? [] }, serviceKeys.data ?? []),
    isPersonal: identity !== ownId && (members.data ?? []).some(({ id }) => id === identity),
    error: members.error ?? accounts.error ?? serviceKeys.error ?? tokens.error,
  };
}
