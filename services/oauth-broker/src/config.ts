import {
  ConnectionUri,
  eventBusVariables,
  idempotencyVariables,
  serviceVariables,
  statefulServiceVariables,
} from '@runyard/service-kit';
import Type, { type Static } from 'typebox';

export const configSchema = Type.Object({
  ...serviceVariables,
  ...eventBusVariables,
  ...statefulServiceVariables,
  ...idempotencyVariables,
  ORG_ACCESS_URL: Type.String({ format: 'uri', description: 'Base URL of org-access, whose keys sign callers.' }),
  CONTROL_PLANE_URL: Type.String({
    format: 'uri',
    description: 'Base URL of control-plane, which knows the deployments that ask for tokens.',
  }),
  PUBLIC_URL: Type.String({ format: 'uri', description: 'Base URL of the gateway as clients know it.' }),
  REDIS_URI: ConnectionUri('redis', 'Redis by which the processes of this service tell each other what has changed.'),
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Networks, as `10.0.0.0/8`, that OAuth providers may be in although not public.',
    }),
  ),
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
});
export type Config = Static<typeof configSchema>;
