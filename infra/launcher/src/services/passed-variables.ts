import { INDEX_VARIABLES } from '@runyard/package-managers';

/** Variables of services that the person who starts the platform may set. */
const PASSED_ON = {
  'control-plane': ['OUTBOUND_ALLOWED_NETWORKS', 'LISTENER_LEASE_SECONDS', 'DRIVER'],
  'data-plane': [
    'OUTBOUND_ALLOWED_NETWORKS',
    'BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS',
    // These choose the drivers, and the container engine that runs images.
    'DRIVER',
    'CONTAINER_ENGINE_COMMAND',
    'CONTAINER_NETWORK',
    'CONTAINER_HOST',
    'DOCKER_HOST',
    'DOCKER_CONTEXT',
    'DOCKER_CONFIG',
    'DOCKER_CERT_PATH',
    'DOCKER_TLS_VERIFY',
    'XDG_RUNTIME_DIR',
    'RUNYARD_PYTHONS',
  ],
  builder: [
    'BUILDER_IDLE_SECONDS',
    // Python projects are installed with these.
    'RUNYARD_PYTHONS',
    ...INDEX_VARIABLES,
  ],
  'org-access': [
    'SMTP_URL',
    'EMAIL_FROM',
    'INVITE_TTL_DAYS',
    'SELF_HOSTED_JIT_PROVISIONING_ENABLED',
    'FF_ORG_CREATION_DISABLED',
    'PERSONAL_ORGS_DISABLED',
    'OUTBOUND_ALLOWED_NETWORKS',
    'OAUTH_CLIENT_ID',
    'OAUTH_CLIENT_SECRET',
    'OAUTH_ISSUER_URL',
    'OAUTH_SCOPES',
    'OAUTH_IDP_LOGOUT_ENABLED',
    'OAUTH_SESSION_MAX_SEC',
    'ISSUER_SUB_CLAIM_OVERRIDES',
    'INITIAL_ORG_ADMIN_EMAIL',
  ],
  'oauth-broker': ['OUTBOUND_ALLOWED_NETWORKS'],
  'run-history': [
    'RUN_HISTORY_RETENTION_DAYS',
    'RUN_HISTORY_RUNS_PER_DEPLOYMENT_MAX',
    'RUN_HISTORY_MINUTES_RETENTION_DAYS',
  ],
  gateway: ['RATE_LIMIT_FAILURES_RPS', 'RATE_LIMIT_FAILURES_BURST'],
};

/** Returns the variables that a service gets, unchanged, from the environment in which the platform is started. */
export function selectPassedVariables(
  service: keyof typeof PASSED_ON,
  environment: NodeJS.ProcessEnv,
): Record<string, string> {
  const names = PASSED_ON[service];
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}
