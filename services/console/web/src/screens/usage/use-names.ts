import type { UsageGroup } from '@runyard/contracts';
import { useQueries, useQuery } from '@tanstack/react-query';
import { assistantsQuery } from '../../platform/assistants.ts';
import { canRun, deploymentsQuery } from '../../platform/deployments.ts';
import { personalTokensQuery, serviceAccountsQuery, serviceKeysQuery } from '../../platform/keys.ts';
import { memberChoiceQuery } from '../../platform/members.ts';
import { nameOf } from '../deployments/deployment-list.ts';
import type { GroupValues } from './usage-rows.ts';

/** Deployments that are asked for the names of their assistants. */
const DEPLOYMENTS_MAX = 20;

/** The kinds of those who make runs, in the words of people. */
const KINDS: Record<string, string> = {
  session: 'person',
  personal_token: 'person, by a token',
  project_user: 'end user',
  service_key: 'service key',
};

/** The name of a value of a group, and what distinguishes it from others of the same name. */
export interface UsageName {
  name: string;
  detail?: string;
  /** The name is an id, as nobody here knows another. */
  isId?: boolean;
}

/**
 * Returns a function that names the values of some groups, where the person may know their names; else by their ids.
 *
 * @param deployment the one that is shown alone
 */
export function useNames(
  workspaceId: string,
  groups: readonly UsageGroup[],
  deployment: string | undefined,
): (row: GroupValues, group: UsageGroup) => UsageName {
  const has = (...some: UsageGroup[]) => some.some((group) => groups.includes(group));
  const deployments = useQuery(deploymentsQuery(workspaceId)).data ?? [];
  const keys = useQuery({ ...serviceKeysQuery(workspaceId), enabled: has('key', 'creator') });
  const tokens = useQuery({ ...personalTokensQuery(workspaceId), enabled: has('key') });
  const accounts = useQuery({ ...serviceAccountsQuery(workspaceId), enabled: has('creator') });
  const members = useQuery({ ...memberChoiceQuery(workspaceId, ''), enabled: has('creator') });
  const asked = deployments.filter((each) => canRun(each) && (deployment === undefined || each.id === deployment));
  const assistants = useQueries({
    queries: has('assistant')
      ? asked.slice(0, DEPLOYMENTS_MAX).map(({ id }) => ({ ...assistantsQuery(workspaceId, id), retry: false }))
      : [],
  });
  const names = new Map<string, string>([
    ...deployments.map((deployment) => [deployment.id, nameOf(deployment)] as const),
    ...assistants.flatMap(({ data = [] }) => data.map(({ assistant_id: id, name }) => [id, name] as const)),
    ...[...(keys.data ?? []), ...(tokens.data ?? [])].flatMap(({ id, description, service_account_id: account }) => [
      [id, description] as const,
      ...(account ? [[account, description] as const] : []),
    ]),
    ...(accounts.data ?? []).map(({ id, name }) => [id, name] as const),
    ...(members.data ?? []).flatMap(({ id, ls_user_id: personId, display_name: name }) => [
      [id, name] as const,
      [personId, name] as const,
    ]),
  ]);
  const named = (id: string, detail?: string): UsageName => {
    const name = names.get(id);
    return { name: name || id, isId: !name, ...(detail && { detail }) };
  };
  return (row, group) => {
    switch (group) {
      case 'model':
        return row.model
          ? { name: row.model.model, detail: row.model.provider }
          : { name: 'No model', detail: 'runs and tools' };
      case 'deployment':
        return named(row.deployment_id!);
      case 'assistant':
        return named(row.assistant_id!);
      case 'creator': {
        if (!row.creator) return { name: 'Not known' };
        const { kind, identity } = row.creator;
        const words = KINDS[kind] ?? kind.replaceAll('_', ' ');
        // An end user is called as the project calls them, and never as somebody here.
        if (kind === 'project_user') return { name: identity, detail: words };
        return identity === '' ? { name: words } : named(identity, words);
      }
      case 'key':
        return row.key_id ? named(row.key_id) : { name: 'No key' };
    }
  };
}
