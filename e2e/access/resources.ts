import { randomUUID } from 'node:crypto';
import type {
  Budget,
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
import { type Ids, UNUSED_BUDGET } from './requests.ts';

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
  const [agentServer, controlPlane, organization] = await Promise.all([
    makeAgentServerResources(platform),
    makeControlPlaneResources(platform),
    makeAll(Object.values(MAKERS), platform, { workspaceId, suffix: '', names: TAKEN_NAMES }),
  ]);
  const unknown = { session_id: randomUUID(), passkey_id: randomUUID(), delivery_id: randomUUID() };
  return { ...agentServer, ...controlPlane, ...organization, ...unknown };
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

const TAG_KEYS = '/api/v1/workspaces/current/tag-keys';

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
  const message = { messageId: 'asked for', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const [{ task }, cron, state] = await Promise.all([
    ask<{ task: { id: string } }>('POST', `/a2a/${assistant_id}/message:send`, { message }),
    ask<{ cron_id: string }>('POST', '/runs/crons', { assistant_id, schedule: '@yearly', enabled: false }),
    ask<{ checkpoint: { checkpoint_id: string } }>('GET', `/threads/${thread_id}/state`),
  ]);
  const { checkpoint_id } = state.checkpoint;
  return { assistant_id, thread_id, task_id: task.id, run_id: run.run_id, cron_id: cron.cron_id, checkpoint_id };
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
  // Its data plane never comes, so the budgets are made while the rest is.
  const budgets = [`/v2/deployments/${deployment.id}/budgets`, '/v2/workspaces/current/budgets'].map((path) =>
    ask<Budget>('POST', path, UNUSED_BUDGET),
  );
  const integration = await ask<{ id: string }>('POST', '/v1/integrations/github/install', {
    name: 'asked for',
    url: 'http://127.0.0.1:9',
    token: 'a token',
  });
  const [budget, ofWorkspace] = await Promise.all(budgets);
  return {
    ...names,
    ...(await makeOAuthResources(ask, names)),
    budget_id: budget!.id,
    workspace_budget_id: ofWorkspace!.id,
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

type Ask = ReturnType<typeof createAdministratorClient>;

interface OrganizationPlace {
  workspaceId: string;
  /** Keeps names apart; empty for the first resources. */
  suffix: string;
  names: Pick<Ids, 'tag_key_name' | 'tag_value_name' | 'tagged_id' | 'policy_name'>;
}

/** Makes one resource of org-access. @returns its ids, by their names in paths and bodies */
type Make = (ask: Ask, place: OrganizationPlace) => Promise<Ids>;

/** How resources of org-access are made, by the name of their id. */
const MAKERS: Record<string, Make> = {
  async api_key_id(ask, { workspaceId }) {
    const body = { description: 'asked for', workspaces: [workspaceId] };
    return { api_key_id: (await ask<IssuedApiKey>('POST', '/api/v1/orgs/current/service-keys', body)).id };
  },
  async pat_id(ask) {
    const path = '/api/v1/orgs/current/personal-access-tokens';
    return { pat_id: (await ask<IssuedApiKey>('POST', path, { description: 'asked for' })).id };
  },
  async scim_token_id(ask) {
    const path = '/v1/platform/orgs/current/scim/tokens';
    return { scim_token_id: (await ask<ScimToken>('POST', path, { description: 'asked for' })).id };
  },
  async identity_id(ask, { suffix }) {
    const body = { email: `asked-for${suffix}@example.com`, direct: true };
    const member = await ask<NewMember>('POST', '/api/v1/orgs/current/members', body);
    const inWorkspace = await ask<WorkspaceMember>('POST', '/api/v1/workspaces/current/members', {
      org_identity_id: member.id,
      role_id: WORKSPACE_EDITOR,
    });
    return { identity_id: member.id, workspace_member_id: inWorkspace.id };
  },
  async invite_id(ask, { suffix }) {
    const body = { email: `invited${suffix}@example.com` };
    return { invite_id: (await ask<{ id: string }>('POST', '/api/v1/orgs/current/members', body)).id };
  },
  async service_account_id(ask, { suffix }) {
    const body = { name: `Asked for ${suffix}` };
    return { service_account_id: (await ask<{ id: string }>('POST', '/api/v1/service-accounts', body)).id };
  },
  async custom_role_id(ask, { suffix }) {
    const display_name = suffix === '' ? TAKEN_NAMES.role_name : `role-${suffix}`;
    const body = { display_name, permissions: ['runs:read'] };
    return { custom_role_id: (await ask<Role>('POST', '/api/v1/orgs/current/roles', body)).id };
  },
  async workspace_id(ask, { suffix }) {
    const body = { display_name: `Asked for ${suffix}` };
    return { workspace_id: (await ask<Workspace>('POST', '/api/v1/workspaces', body)).id };
  },
  async sso_provider_id(ask, { workspaceId }) {
    const { id } = await ask<SsoSettings>('POST', '/api/v1/orgs/current/sso-settings', {
      default_workspace_role_id: WORKSPACE_EDITOR,
      default_workspace_ids: [workspaceId],
      issuer_url: 'https://id.example.com',
      client_id: 'asked for',
      client_secret: 'asked for',
    });
    return { sso_provider_id: id };
  },
  async tagging_id(ask, { names }) {
    const key = { key: names.tag_key_name };
    const { id: tag_key_id } = await ask<{ id: string }>('POST', TAG_KEYS, key);
    const value = { value: names.tag_value_name };
    const { id: tag_value_id } = await ask<{ id: string }>('POST', `${TAG_KEYS}/${tag_key_id}/tag-values`, value);
    const tagging = { tag_value_id, resource_type: 'deployment', resource_id: names.tagged_id };
    const { id: tagging_id } = await ask<{ id: string }>('POST', '/api/v1/workspaces/current/taggings', tagging);
    return { tag_key_id, tag_value_id, tagging_id };
  },
  async access_policy_id(ask, { names }) {
    const condition = { attribute_name: 'resource_tag_key', attribute_key: 'Stage', operator: 'equals' };
    const { id } = await ask<{ id: string }>('POST', '/v1/platform/orgs/current/access-policies', {
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
    return { access_policy_id: id };
  },
};

/** Ids that are made with another one. */
const MADE_WITH: Record<string, string> = {
  workspace_member_id: 'identity_id',
  tag_key_id: 'tagging_id',
  tag_value_id: 'tagging_id',
};

/**
 * Creates further resources of org-access, which a test may delete.
 *
 * @param wanted the names of the ids that the test needs
 */
export async function makeOrganizationResources(
  platform: PlatformUnderTest,
  workspaceId: string,
  wanted: readonly string[],
): Promise<Ids> {
  const suffix = randomUUID().slice(0, 8);
  const names = {
    tag_key_name: `key-${suffix}`,
    tag_value_name: `value-${suffix}`,
    tagged_id: randomUUID(),
    policy_name: `policy-${suffix}`,
  };
  const makers = new Set(wanted.map((name) => MAKERS[MADE_WITH[name] ?? name]).filter((make) => make !== undefined));
  return makeAll([...makers], platform, { workspaceId, suffix, names });
}

async function makeAll(makers: readonly Make[], platform: PlatformUnderTest, place: OrganizationPlace): Promise<Ids> {
  const ask = createAdministratorClient(platform);
  const made = await Promise.all(makers.map((make) => make(ask, place)));
  return Object.assign({}, ...made);
}
