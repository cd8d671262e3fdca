import type { Operation } from '@runyard/contracts';

/** The values of path parameters and of fields that refer to something, by name. */
export type Ids = Record<string, string>;

export interface OperationRequest {
  method: string;
  /** Path and query, below the service or the deployment. */
  target: string;
  body?: unknown;
}

/**
 * Queries and bodies for operations whose example in the contract lacks something, or could not be sent by a test among
 * others.
 */
const QUERIES: Record<string, Record<string, string>> = {
  deleteDeployments: { deployment_ids: 'deployment_id' },
  getListenerDesiredState: { epoch: '1', wait_seconds: '0' },
  releaseListenerLease: { epoch: '1' },
  fetchBuild: { epoch: '1' },
  waitForAuthentication: { timeout: '1' },
  deleteOAuthTokens: { provider_id: 'provider_id' },
  oauthTokenExists: { provider_id: 'provider_id' },
  putUpload: { expires: '1', signature: 'none' },
  // Without a code it reports that an application is set up, and connects nothing.
  oauthSetup: { code: 'a code', state: 'none' },
  cancelRun: { action: 'interrupt' },
};

/** A policy with no effect: it is attached to no role, and its condition never holds. */
const POLICY = {
  name: 'policy_name',
  effect: 'deny',
  condition_groups: [
    {
      resource_type: 'deployment',
      permission: 'deployments:delete',
      conditions: [
        { attribute_name: 'resource_tag_key', attribute_key: 'Stage', operator: 'equals', attribute_value: 'none' },
      ],
    },
  ],
};

const ACCOUNTS = [{ email: 'account_address', password: 'nine quiet otters by the weir' }];

/** A budget that stops nobody. */
export const UNUSED_BUDGET = { name: 'asked for', subject: 'key', subject_id: 'nobody', period: 'month', runs_max: 1 };

const BODIES: Record<string, unknown> = {
  addBasicMembers: ACCOUNTS,
  addBasicMembersAlias: ACCOUNTS,
  createBudget: UNUSED_BUDGET,
  createWorkspaceBudget: UNUSED_BUDGET,
  haltDeployment: { reason: 'halt_reason' },
  haltWorkspace: { reason: 'halt_reason' },
  haltOrganization: { reason: 'halt_reason' },
  createA2aPushConfig: { url: 'http://127.0.0.1:9/a2a' },
  createA2aPushConfigV03: { pushNotificationConfig: { url: 'http://127.0.0.1:9/a2a' } },
  createThread: { thread_id: 'new_thread_id', if_exists: 'do_nothing' },
  // Without ids it would cancel every run.
  cancelRuns: { thread_id: 'thread_id', run_ids: ['run_id'] },
  createCron: { schedule: '@yearly', enabled: false, assistant_id: 'assistant_id' },
  createThreadCron: { schedule: '@yearly', enabled: false, assistant_id: 'assistant_id' },
  updateCron: { metadata: { asked: true } },
  updateCronAlias: { metadata: { asked: true } },
  updateThreadState: { values: null },
  pruneThreads: { thread_ids: ['thread_id'], strategy: 'keep_latest' },
  createDeployment: {
    name: 'deployment_name',
    source: 'local_directory',
    source_config: { project_path: '/srv/agent', listener_id: 'listener_id' },
    source_revision_config: {},
  },
  patchThread: { metadata: { asked: true } },
  patchDeployment: {},
  createListener: { compute_type: 'process', compute_id: 'compute_id', compute_config: {} },
  patchListener: { version: '1' },
  createGithubIntegration: { name: 'asked for', url: 'http://127.0.0.1:9', token: 'a token' },
  createOAuthProvider: {
    provider_id: 'taken_provider_id',
    name: 'Provider',
    client_id: 'client',
    auth_url: 'http://127.0.0.1:9/authorize',
    token_url: 'http://127.0.0.1:9/token',
  },
  discoverMcpProvider: { provider_id: 'taken_provider_id', name: 'Provider', mcp_server_url: 'http://127.0.0.1:9/mcp' },
  authenticate: { provider: 'provider_id', scopes: [] },
  createAccessPolicy: POLICY,
  createAccessPolicyAlias: POLICY,
  createTagKey: { key: 'tag_key_name' },
  createTagValue: { value: 'tag_value_name' },
  createTagging: { tag_value_id: 'tag_value_id', resource_type: 'deployment', resource_id: 'tagged_id' },
  addWorkspaceMembers: [{ email: 'invited_email' }],
  createRole: { display_name: 'role_name', permissions: ['runs:read'] },
  createRoleAlias: { display_name: 'role_name', permissions: ['runs:read'] },
  updateRole: { description: 'Asked for.' },
  updateRoleAlias: { description: 'Asked for.' },
  chooseOrganization: { organization_id: 'own_organization_id' },
  updateOrganizationInfo: {},
  updateOrganizationInfoAlias: {},
};

/** Names in bodies that `ids` need not have. Without a reason a halt is refused: it would stop what other tests run. */
const DEFAULTS: Ids = { halt_reason: '' };

/** Fields of examples whose values refer to something that `Ids` knows by another name. */
const REFERENCES: Record<string, string> = {
  provider_ids: 'provider_id',
  thread_ids: 'thread_id',
  resource_id: 'deployment_id',
  access_policy_ids: 'access_policy_id',
  default_workspace_ids: 'workspace_id',
};

/** Names of path parameters that `Ids` knows by another name, because bodies have fields of the first. */
const PATH_NAMES: Record<string, string> = { role_id: 'custom_role_id', organization_id: 'own_organization_id' };

/** Returns a request that the operation's schemas allow, about the things in `ids`. */
export function buildRequest(operation: Operation, ids: Ids): OperationRequest {
  const { operationId, method, examples } = operation;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(ids[name] ?? ids[PATH_NAMES[name] ?? ''] ?? 'none'),
  );
  const named = QUERIES[operationId];
  const query = named ? valuesOf(named, ids) : fill(examples?.query ?? {}, ids);
  const search = new URLSearchParams(query as Record<string, string>).toString();
  const body =
    BODIES[operationId] === undefined
      ? fill(examples?.body, ids)
      : valuesOf(BODIES[operationId], { ...DEFAULTS, ...ids });
  return {
    method: method.toUpperCase(),
    target: search === '' ? path : `${path}?${search}`,
    ...(operation.body && { body }),
  };
}

/** Returns those of the names whose ids a request of the operation has. */
export function findNamesIn(operation: Operation, names: readonly string[]): string[] {
  const placeOf = (name: string) => `id-of-${name}.`;
  const { target, body } = buildRequest(operation, Object.fromEntries(names.map((name) => [name, placeOf(name)])));
  const text = `${target} ${JSON.stringify(body)}`;
  return names.filter((name) => text.includes(placeOf(name)));
}

/** Replaces each text that is a name in `ids` by its value. */
function valuesOf(value: unknown, ids: Ids): unknown {
  if (typeof value === 'string') return ids[value] ?? value;
  if (Array.isArray(value)) return value.map((each) => valuesOf(each, ids));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, valuesOf(each, ids)]));
}

/** Replaces the value of each field whose name is in `ids`. */
function fill(value: unknown, ids: Ids): unknown {
  if (Array.isArray(value)) return value.map((each) => fill(each, ids));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const id = ids[REFERENCES[name] ?? name];
      if (id === undefined) return [name, fill(each, ids)];
      return [name, Array.isArray(each) ? [id] : id];
    }),
  );
}
