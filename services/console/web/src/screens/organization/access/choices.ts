import type { ApiKey, OrgMember, ServiceAccount } from '@runyard/contracts';
import type { AccessQuestion } from '../../../platform/access.ts';

export interface Choice {
  value: string;
  label: string;
}

/** Returns the identities that one may ask about: people first, then the programs whose names have `q` in them. */
export function identityChoices(
  members: readonly OrgMember[],
  accounts: readonly ServiceAccount[],
  serviceKeys: readonly ApiKey[],
  q = '',
): Choice[] {
  const programs = new Map(accounts.map(({ id, name }) => [id, `Service account ${name}`]));
  // Most keys have an account of their own, which has the name of the key.
  for (const key of serviceKeys) {
    const { service_account_id: id } = key;
    if (id && !programs.has(id)) programs.set(id, `Service key ${nameOf(key)}`);
  }
  return [
    ...members.map(({ id: value, email, full_name: name }) => ({ value, label: name ? `${name} (${email})` : email })),
    ...[...programs]
      .map(([value, label]) => ({ value, label }))
      .filter(({ label }) => label.toLowerCase().includes(q.toLowerCase())),
  ];
}

/** Returns the choices with the one that is chosen: a search leaves it out, and so may a list that ends. */
export function withChosen(choices: readonly Choice[], chosen: Choice | undefined): readonly Choice[] {
  if (!chosen || choices.some(({ value }) => value === chosen.value)) return choices;
  return [chosen, ...choices];
}

/** Returns the keys with which an identity may come: those of an account, or the person's own tokens. */
export function keyChoices(
  identity: string | undefined,
  own: { identity: string | undefined; tokens: readonly ApiKey[] },
  serviceKeys: readonly ApiKey[],
): Choice[] {
  const keys =
    identity !== undefined && identity === own.identity
      ? own.tokens
      : serviceKeys.filter(({ service_account_id: id }) => id === identity);
  return keys.map((key) => ({ value: key.id, label: nameOf(key) + (key.read_only ? ', only reads' : '') }));
}

/** Returns the question as the platform takes it. */
export function questionOf(
  chosen: { identity: string; key: string | undefined; permission: string; resource: string },
  place: { workspaceId: string; workspaceIds: readonly string[]; isOfOrganization: boolean },
): AccessQuestion {
  const { identity, key, permission, resource } = chosen;
  const isWorkspace = resource === place.workspaceId || place.workspaceIds.includes(resource);
  return {
    identity,
    permission,
    ...(key !== undefined && { api_key_id: key }),
    ...(!place.isOfOrganization && { resource }),
    // A deployment without tags is not known where rights are decided: its workspace has to be named.
    ...(!place.isOfOrganization && !isWorkspace && { workspace_id: place.workspaceId }),
  };
}

function nameOf({ description, short_key: short }: ApiKey): string {
  return description ? `${description} (${short})` : short;
}
