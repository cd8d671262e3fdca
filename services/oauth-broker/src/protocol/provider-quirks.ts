import type { OAuthProviderType } from '@runyard/contracts';

type Fields = Record<string, unknown>;

/** Deviations of a provider from the standards. */
export interface ProviderQuirks {
  scopeSeparator: ' ' | ',';
  /** Added to every list of scopes: without it there is no refresh token. */
  offlineScope?: string;
  /** The lifetime of a token when the answer has none. */
  lifetimeSeconds?: number;
  /** The path of the revocation endpoint, on the token endpoint's host. */
  revocationPath?: string;
  /** Fields of the token answer that callers need to use the token. */
  metadataFields: readonly string[];
  /** Converts the answer of the token endpoint to the standard form. */
  toStandard(answer: Fields): Fields;
  /** Returns whether the token represents a whole workspace instead of a person. */
  isOfWorkspace(answer: Fields): boolean;
}

const STANDARD: ProviderQuirks = {
  scopeSeparator: ' ',
  metadataFields: [],
  toStandard: (answer) => answer,
  isOfWorkspace: () => false,
};

/** Slack's error codes for an invalid or used code or refresh token. */
const SLACK_GRANT_REFUSED = new Set([
  'invalid_code',
  'code_already_used',
  'invalid_refresh_token',
  'token_expired',
  'token_revoked',
  'account_inactive',
]);

const QUIRKS: Record<OAuthProviderType, ProviderQuirks> = {
  microsoft: { ...STANDARD, offlineScope: 'offline_access' },
  salesforce: {
    ...STANDARD,
    offlineScope: 'refresh_token',
    // Salesforce does not return a lifetime; this is the default of an organization's session settings.
    lifetimeSeconds: 7_200,
    revocationPath: '/services/oauth2/revoke',
    // Each organization has its own address of the API.
    metadataFields: ['instance_url', 'id'],
  },
  slack: {
    ...STANDARD,
    scopeSeparator: ',',
    revocationPath: '/api/auth.revoke',
    metadataFields: ['team', 'enterprise', 'app_id', 'bot_user_id', 'authed_user'],
    toStandard: standardizeSlack,
    isOfWorkspace: (answer) => answer.token_type === 'bot',
  },
};

export function quirksOf(type: string | null): ProviderQuirks {
  return type === null ? STANDARD : QUIRKS[type as OAuthProviderType];
}

/** Slack always answers with status 200, and returns a person's token beside the application's. */
function standardizeSlack(answer: Fields): Fields {
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
