import Type, { type Static, type TObject } from 'typebox';

export const oauthVariables = {
  OAUTH_CALLBACK_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Page of a front end that OAuth providers send people back to, with `/{provider_id}` after it; it gives code and state to `POST /v2/auth/callback`. Default: this service takes them itself.',
    }),
  ),
  OAUTH_FINISHED_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description: 'Page where people go after `GET /v2/auth/callback`. Default: a small one of this service.',
    }),
  ),
  OAUTH_PROVIDER_TIMEOUT_SECONDS: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 60,
    description: 'How long an OAuth provider may take for an answer.',
  }),
  OAUTH_FLOW_TTL_SECONDS: Type.Integer({
    default: 3600,
    minimum: 10,
    maximum: 604_800,
    description: 'How long a person may take to come back from an OAuth provider.',
  }),
};

/** The broker's settings: its own, and those it shares with others. */
export interface OAuthSettings extends Static<TObject<typeof oauthVariables>> {
  /** Base URL of the gateway as clients know it. */
  PUBLIC_URL: string;
  /** Networks, as `10.0.0.0/8`, that providers may be in although not public. */
  OUTBOUND_ALLOWED_NETWORKS?: string[] | undefined;
  /** Redis by which the processes tell each other that something has changed. */
  DATA_REDIS_URI: string;
}
