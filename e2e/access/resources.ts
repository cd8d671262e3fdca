import { randomUUID } from 'node:crypto';
import type {
  Deployment,
  IssuedApiKey,
  Listener,
  NewMember,
  Role,
  ScimToken,
  SsoSettings,
  Workspace,
  WorkspaceMember,
} from '@runyard/contracts';
import { type Callers, createAdministratorClient, type PlatformUnderTest } from './callers.ts';
import type { Ids } from './requests.ts';

/** Names that creations use: where they are taken, no more is created. */
export const TAKEN_NAMES = {
  new_thread_id: '0a5ced00-0000-4000-8000-000000000001',
  deployment_name: 'asked-for-deployment',
  compute_id: 'asked-for-machine',
  taken_provider_id: 'asked-for-provider',
  role_name: 'asked-for-role',
  // Somebody with an invite, whom everybody who manages members of the workspace may invite there.
  invited_email: 'invited@example.com',
  policy_name: 'asked-for-policy',
  account_address: 'asked-for@example.com',
  tag_key_name: 'asked-for-key',
  tag_value_name: 'asked-for-value',
  tagged_id: '0a5ced00-0000-4000-8000-000000000002',
} as const satisfies Ids;

/**
 * Creates one resource of each kind, in the default organization and its first workspace; returns their ids by the
 * names in paths and bodies.
 */
export async function makeResources(platform: PlatformUnderTest, { workspaceId }: Callers): Promise<Ids> {
  const [agentServer, controlPlane, keys, tags] = await Promise.all([
    makeAgentServerResources(platform),
    makeControlPlaneResources(platform),
    makeKeys(platform, workspaceId),
    makeTags(platform),
  ]);
  return { ...agentServer, ...controlPlane, ...keys, ...tags };
}

/** Returns ids of the same names that nothing has. */
export function makeMissingIds(ids: Ids): Ids {
  const known = [...new Set(Object.values(ids))];
  const missing = (id: string) => {
    const tail = String(known.indexOf(id)).padStart(12, '0');
    return isUuid(id) ? `00000000-0000-4000-8000-${tail}` : `missing-${tail}`;
  };
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, missing(id)]));
}

/** Returns unused names for creations. */
export function makeFreshIds(): Ids {
  return Object.fromEntries(
    Object.entries(TAKEN_NAMES).map(([name, id]) => [
      name,
      isUuid(id) ? randomUUID() : `fresh-${randomUUID().slice(0, 8)}${id.includes('@') ? '@example.com' : ''}`,
    ]),
  );
}

/** Replaces the ids in an answer by their names, so that two answers can be compared. */
export function maskIds(text: string, ...named: Ids[]): string {
  let masked = text;
  for (const ids of named) for (const [name, id] of Object.entries(ids)) masked = masked.replaceAll(id, `<${name}>`);
  return masked;
}

const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

async function makeAgentServerResources(platform: PlatformUnderTest): Promise<Ids> {
  const asks = createAdministratorClient(platform);
  const ask = <Answer>(method: string, path: string, body?: unknown) =>
    asks<Answer>(method, platform.deploymentUrl + path, body);
  const [assistant, thread] = await Promise.all([
    ask<{ assistant_id: string }>('POST', '/assistants', { graph_id: 'echo' }),
    ask<{ thread_id: string }>('POST', '/threads', {}),
  ]);
  const { assistant_id } = assistant;
  const { thread_id } = thread;
  const run = await ask<{ run_id: string }>('POST', `/threads/${thread_id}/runs`, { assistant_id, input: {} });
  await ask('GET', `/threads/${thread_id}/runs/${run.run_id}/join`);
  const [cron, state] = await Promise.all([
    ask<{ cron_id: string }>('POST', '/runs/crons', { assistant_id, schedule: '@yearly', enabled: false }),
    ask<{ checkpoint: { checkpoint_id: string } }>('GET', `/threads/${thread_id}/state`),
  ]);
  const { checkpoint_id } = state.checkpoint;
  return { assistant_id, thread_id, run_id: run.run_id, cron_id: cron.cron_id, checkpoint_id };
}

/** Creates resources of control-plane. No data plane runs their deployment, so a test may break it. */
async function makeControlPlaneResources(platform: PlatformUnderTest): Promise<Ids> {
  const ask = createAdministratorClient(platform);
  const names = { provider_id: TAKEN_NAMES.taken_provider_id, agent_id: 'asked-for-agent' };
  const listener = await ask<Listener>('POST', '/v2/listeners', {
    compute_type: 'process',
    compute_id: TAKEN_NAMES.compute_id,
    compute_config: {},
  });
  const made = await ask<{ id: string }>('POST', `/v2/listeners/${listener.id}/keys`);
  const deployment = await ask<Deployment>('POST', '/v2/deployments', {
    name: TAKEN_NAMES.deployment_name,
    source: 'local_directory',
    source_config: { project_path: '/srv/agent', listener_id: listener.id },
    source_revision_config: {},
  });
  const integration = await ask<{ id: string }>('POST', '/v1/integrations/github/install', {
    name: 'asked for',
    url: 'http://127.0.0.1:9',
    token: 'a token',
  });
  return {
    ...names,
    ...(await makeOAuthResources(ask, names)),
    listener_id: listener.id,
    key_id: made.id,
    deployment_id: deployment.id,
    project_id: deployment.id,
    revision_id: deployment.latest_revision_id!,
    integration_id: integration.id,
  };
}

async function makeOAuthResources(
  ask: ReturnType<typeof createAdministratorClient>,
  { provider_id, agent_id }: { provider_id: string; agent_id: string },
): Promise<Ids> {
  await ask('POST', '/v2/auth/providers', {
    provider_id,
    name: 'Provider',
    client_id: 'client',
    auth_url: 'https://provider.example.com/authorize',
    token_url: 'https://provider.example.com/token',
  });
  const { token_id } = await ask<{ token_id: string }>('POST', '/v2/auth/tokens/import', {
    provider_id,
    access_token: 'of the administrator',
  });
  const connection = await ask<{ id: string }>('POST', `/v2/auth/agents/${agent_id}/connections`, {
    oauth_token_id: token_id,
  });
  return { token_id, oauth_token_id: token_id, connection_id: connection.id };
}

const WORKSPACE_EDITOR = '5a7d6f2e-0000-4000-8000-000000000012';

/** Creates further resources of org-access, which a test may delete. */
export async function makeOrganizationResources(platform: PlatformUnderTest, workspaceId: string): Promise<Ids> {
  const suffix = randomUUID().slice(0, 8);
  const names = {
    tag_key_name: `key-${suffix}`,
    tag_value_name: `value-${suffix}`,
    tagged_id: randomUUID(),
    policy_name: `policy-${suffix}`,
  };
  return { ...(await makeKeys(platform, workspaceId, suffix)), ...(await makeTags(platform, names)) };
}

async function makeKeys(platform: PlatformUnderTest, workspaceId: string, suffix = ''): Promise<Ids> {
  const ask = createAdministratorClient(platform);
  const key = await ask<IssuedApiKey>('POST', '/api/v1/orgs/current/service-keys', {
    description: 'asked for',
    workspaces: [workspaceId],
  });
  const token = await ask<IssuedApiKey>('POST', '/api/v1/orgs/current/personal-access-tokens', {
    description: 'asked for',
  });
  const scimToken = await ask<ScimToken>('POST', '/v1/platform/orgs/current/scim/tokens', { description: 'asked for' });
  const member = await ask<NewMember>('POST', '/api/v1/orgs/current/members', {
    email: `asked-for${suffix}@example.com`,
    direct: true,
  });
  const workspaceMember = await ask<WorkspaceMember>('POST', '/api/v1/workspaces/current/members', {
    org_identity_id: member.id,
    role_id: WORKSPACE_EDITOR,
  });
  const invite = await ask<{ id: string }>('POST', '/api/v1/orgs/current/members', {
    email: `invited${suffix}@example.com`,
  });
  const account = await ask<{ id: string }>('POST', '/api/v1/service-accounts', { name: `Asked for ${suffix}` });
  const role = await ask<Role>('POST', '/api/v1/orgs/current/roles', {
    display_name: suffix === '' ? TAKEN_NAMES.role_name : `role-${suffix}`,
    permissions: ['runs:read'],
  });
  const workspace = await ask<Workspace>('POST', '/api/v1/workspaces', { display_name: `Asked for ${suffix}` });
  const provider = await ask<SsoSettings>('POST', '/api/v1/orgs/current/sso-settings', {
    default_workspace_role_id: WORKSPACE_EDITOR,
    default_workspace_ids: [workspaceId],
    issuer_url: 'https://id.example.com',
    client_id: 'asked for',
    client_secret: 'asked for',
  });
  return {
    api_key_id: key.id,
    pat_id: token.id,
    identity_id: member.id,
    workspace_member_id: workspaceMember.id,
    invite_id: invite.id,
    service_account_id: account.id,
    scim_token_id: scimToken.id,
    session_id: randomUUID(),
    passkey_id: randomUUID(),
    workspace_id: workspace.id,
    sso_provider_id: provider.id,
    custom_role_id: role.id,
  };
}

async function makeTags(
  platform: PlatformUnderTest,
  names: Pick<Ids, 'tag_key_name' | 'tag_value_name' | 'tagged_id' | 'policy_name'> = TAKEN_NAMES,
): Promise<Ids> {
  const ask = createAdministratorClient(platform);
  const keys = '/api/v1/workspaces/current/tag-keys';
  const { id: tag_key_id } = await ask<{ id: string }>('POST', keys, { key: names.tag_key_name });
  const { id: tag_value_id } = await ask<{ id: string }>('POST', `${keys}/${tag_key_id}/tag-values`, {
    value: names.tag_value_name,
  });
  const { id: tagging_id } = await ask<{ id: string }>('POST', '/api/v1/workspaces/current/taggings', {
    tag_value_id,
    resource_type: 'deployment',
    resource_id: names.tagged_id,
  });
  const condition = { attribute_name: 'resource_tag_key', attribute_key: 'Stage', operator: 'equals' };
  const { id: access_policy_id } = await ask<{ id: string }>('POST', '/v1/platform/orgs/current/access-policies', {
    name: names.policy_name,
    effect: 'deny',
    condition_groups: [
      {
        resource_type: 'deployment',
        permission: 'deployments:delete',
        conditions: [{ ...condition, attribute_value: 'none' }],
      },
    ],
  });
  return { tag_key_id, tag_value_id, tagging_id, access_policy_id };
}
