import { ROLE_POLICIES, type RoleName, type TaggedResource } from './permissions.ts';

/** Ids of custom roles. */
export type RoleIds = Partial<Record<RoleName, string>>;

/** Sends a request as an administrator. @throws when it is refused */
type Ask = <Answer>(method: string, target: string, body?: unknown) => Promise<Answer>;

const TAG = { key: 'Access matrix', value: 'tagged' };
const CURRENT = '/api/v1/workspaces/current';

/** Writes the policies of `ROLE_POLICIES`, which match the tag of the matrix, and attaches them to their roles. */
export async function writePolicies(ask: Ask, roleIds: RoleIds): Promise<void> {
  for (const [role, { effect, ...permissions }] of Object.entries(ROLE_POLICIES)) {
    const groups = Object.entries(permissions).flatMap(([resource_type, names]) =>
      names.map((permission) => ({ resource_type, permission })),
    );
    const condition = { attribute_name: 'resource_tag_key', attribute_key: TAG.key, operator: 'equals' };
    await ask('POST', '/v1/platform/orgs/current/access-policies', {
      name: role,
      effect,
      condition_groups: groups.map((group) => ({
        ...group,
        conditions: [{ ...condition, attribute_value: TAG.value }],
      })),
      role_ids: [roleIds[role as RoleName]],
    });
  }
}

/** Gives resources, by their kind, the tag that the policies match. */
export async function tagForPolicies(
  ask: Ask,
  resources: Partial<Record<TaggedResource, readonly string[]>>,
): Promise<void> {
  const tag_value_id = await findOrMakeValue(ask);
  for (const [resource_type, ids] of Object.entries(resources)) {
    for (const resource_id of ids) {
      await ask('POST', `${CURRENT}/taggings`, { tag_value_id, resource_type, resource_id });
    }
  }
}

async function findOrMakeValue(ask: Ask): Promise<string> {
  const keys = await ask<{ id: string; key: string }[]>('GET', `${CURRENT}/tag-keys`);
  const { id } =
    keys.find(({ key }) => key === TAG.key) ??
    (await ask<{ id: string }>('POST', `${CURRENT}/tag-keys`, { key: TAG.key }));
  const values = `${CURRENT}/tag-keys/${id}/tag-values`;
  const [known] = await ask<{ id: string }[]>('GET', values);
  return (known ?? (await ask<{ id: string }>('POST', values, { value: TAG.value }))).id;
}
