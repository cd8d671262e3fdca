import type { OAuthProviderType } from '@runyard/contracts';

type Fields = Record<string, unknown>;

/** What a provider does other than the standards say. */
export interface Peculiarities {
  scopeSeparator: ' ' | ',';
  /** Asked for with every list of scopes: without it there is no refresh token. */
  offlineScope?: string;
  /** How long a token is good when the provider does not say. */
  lifetimeSeconds?: number;
  /** Where tokens are revoked, beside the token endpoint. */
  revocationPath?: string;
  /** Fields of the answer with a token that callers need to use it. */
  told: readonly string[];
  /** The answer of the token endpoint as the standards have it. */
  asStandard(answer: Fields): Fields;
  /** The token speaks for everybody of a workspace and not for a person. */
  isOfWorkspace(answer: Fields): boolean;
}

const STANDARD: Peculiarities = {
  scopeSeparator: ' ',
  told: [],
  asStandard: (answer) => answer,
  isOfWorkspace: () => false,
};

/** What Slack calls a code or a refresh token that is not good (any more). */
const SLACK_GRANT_REFUSED = new Set([
  'invalid_code',
  'code_already_used',
  'invalid_refresh_token',
  'token_expired',
  'token_revoked',
  'account_inactive',
]);

const PECULIARITIES: Record<OAuthProviderType, Peculiarities> = {
  microsoft: { ...STANDARD, offlineScope: 'offline_access' },
  salesforce: {
    ...STANDARD,
    offlineScope: 'refresh_token',
    // Salesforce does not say; it is the default of an organization's session settings.
    lifetimeSeconds: 7_200,
    revocationPath: '/services/oauth2/revoke',
    // Its API is at an address of the organization's own.
    told: ['instance_url', 'id'],
  },
  slack: {
    ...STANDARD,
    scopeSeparator: ',',
    revocationPath: '/api/auth.revoke',
    told: ['team', 'enterprise', 'app_id', 'bot_user_id', 'authed_user'],
    asStandard: slackAsStandard,
    isOfWorkspace: (answer) => answer.token_type === 'bot',
  },
};

export function peculiaritiesOf(type: string | null): Peculiarities {
  return type === null ? STANDARD : PECULIARITIES[type as OAuthProviderType];
}

/** Slack answers 200 whatever happened, and gives a person's token beside the application's. */
function slackAsStandard(answer: Fields): Fields {
  if (answer.ok === false) {
    const error = String(answer.error);
    return SLACK_GRANT_REFUSED.has(error) ? { error: 'invalid_grant', error_description: error } : { error };
  }
  const person = isFields(answer.authed_user) ? answer.authed_user : {};
  const { access_token: _token, refresh_token: _refresh, ...told } = person;
  const source = answer.access_token === undefined ? person : answer;
  return {
    ...answer,
    ...source,
    token_type: 'bearer',
    ...(answer.authed_user === undefined ? {} : { authed_user: told }),
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
