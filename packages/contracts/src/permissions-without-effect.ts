const WRITE = ['create', 'update', 'delete'];
const CRUD = ['read', ...WRITE];

/** Permissions of LangSmith for what Runyard does not have, by the prefix that its permissions have. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'agent-auth-connections': [...CRUD, 'revoke'],
  alerts: CRUD,
  'annotation-queues': CRUD,
  'bulk-exports': ['read', 'manage'],
  charts: CRUD,
  'custom-apps': [...CRUD, 'download'],
  datasets: [...CRUD, 'clone', 'download', 'share', 'tag-on-create'],
  experiments: ['run'],
  feedback: CRUD,
  'feedback-configs': WRITE,
  fleet: ['read-admin-config', 'write-admin-config'],
  gateway: ['invoke'],
  issues: CRUD,
  'mcp-servers': [...CRUD, 'invoke'],
  'model-price-map': CRUD,
  projects: [...CRUD, 'increase-trace-tier', 'decrease-trace-tier', 'tag-on-create'],
  prompts: [...CRUD, 'share', 'tag-on-create'],
  rules: [...CRUD, 'configure-retention'],
  runs: ['read-stats', 'share'],
  sandboxes: [...CRUD, 'exec', 'tag-on-create'],
  snapshots: WRITE,
  workspaces: ['manage-model-configs', 'manage-secrets'],
};

/**
 * The permissions that custom roles may have without effect, so that a configuration written for LangSmith can be applied
 * as it is. No operation asks for them.
 */
export const PERMISSIONS_WITHOUT_EFFECT: ReadonlySet<string> = new Set(
  Object.entries(NAMES).flatMap(([prefix, actions]) => actions.map((action) => `${prefix}:${action}`)),
);
