import type { ErrorEntry } from './entry.ts';

/** Errors of control-plane about Git servers, and of oauth-broker. */
export const INTEGRATION_ERRORS = {
  git_token_refused: {
    status: 400,
    meaning: 'The token of the integration is wrong, expired, or may not list repositories.',
    remedy: 'Create another integration.',
  },
  git_server_unsupported: {
    status: 400,
    meaning: 'The Git server is of no supported kind, or is below a path.',
    remedy: 'Name the repository by its URL.',
  },
  git_server_rate_limited: {
    status: 429,
    meaning: "The token has reached the Git server's rate limit.",
    remedy: 'Try again after `Retry-After`.',
  },
  git_server_unavailable: {
    status: 502,
    meaning: 'The Git server is unavailable, slow or failing.',
    remedy: 'Try again.',
  },
  oauth_flow_invalid: {
    status: 400,
    meaning: 'The authorization is not known, was used before, is too old, or was ended meanwhile.',
    remedy: 'Begin it again.',
  },
  oauth_client_secret_required: {
    status: 400,
    meaning: 'The address of a provider is to change, and the stored `client_secret` belongs to the old one.',
    remedy: 'Send it with the change.',
  },
  oauth_provider_refused: {
    status: 400,
    meaning: 'The OAuth provider answered with an error of its own, such as `invalid_client`.',
    remedy: 'Compare client id, secret and redirect URI with the registration there.',
  },
  oauth_flow_of_other_user: {
    status: 403,
    meaning: 'Another user began this authorization.',
    remedy: 'Begin one as the user who finishes it.',
  },
  deployment_token_invalid: {
    status: 403,
    meaning: '`X-Runyard-Deployment-Token` is no token of a deployment in the workspace of the key.',
    remedy:
      'Send the value of `RUNYARD_DEPLOYMENT_TOKEN` as the code of the deployment finds it, with a key of the same workspace.',
  },
  oauth_provider_exists: {
    status: 409,
    meaning: 'The organization has an OAuth provider with this id.',
    remedy: 'Change that provider, or take another id.',
  },
  oauth_provider_unavailable: {
    status: 502,
    meaning: 'The OAuth provider is unavailable or slow, or not an OAuth server.',
    remedy: 'Try again; the line in the log has the reason.',
  },
  token_owner_check_unavailable: {
    status: 503,
    meaning: 'org-access is unavailable: nobody can say whether the owner of a connected token is still there.',
    remedy: "Try again; callers' own tokens still work.",
  },
  agent_check_unavailable: {
    status: 503,
    meaning:
      'control-plane is unavailable: nobody can say which deployment asks, or whether an agent is still the same.',
    remedy: 'Try again; tokens are given to callers who show no deployment token.',
  },
} as const satisfies Record<string, ErrorEntry>;
