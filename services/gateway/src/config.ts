import { HOST_NAME_PATTERN } from '@runyard/contracts';
import {
  BODY_LIMIT_BYTES,
  ConnectionUri,
  consoleUrlVariable,
  eventBusVariables,
  internalTokenVariable,
  serviceVariables,
} from '@runyard/service-kit';
import Type, { type Static } from 'typebox';

const ratePerSecond = (perSecond: number, of: string) =>
  Type.Number({ default: perSecond, minimum: 0, description: `${of} per second; 0: no limit.` });
const burst = Type.Optional(Type.Integer({ minimum: 1, description: 'How many at once; default twice the rate.' }));

const openRuns = (of: string) =>
  Type.Integer({ default: 0, minimum: 0, description: `Requests of ${of} that run something and wait; 0: no limit.` });

export const configSchema = Type.Object({
  ...serviceVariables,
  ...eventBusVariables,
  ORG_ACCESS_URL: Type.String({ minLength: 1, description: 'Base URL of org-access.' }),
  CONTROL_PLANE_URL: Type.String({ minLength: 1, description: 'Base URL of control-plane.' }),
  OAUTH_BROKER_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Base URL of oauth-broker. Without it nothing is served below `/v2/auth`.',
    }),
  ),
  RUN_HISTORY_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Base URL of run-history. Without it nothing is served below `/v2/runs`.',
    }),
  ),
  REGISTRY_SERVICE_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Base URL of registry. Without it no images are pushed or pulled here.',
    }),
  ),
  CONSOLE_SERVICE_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Base URL of console. With `CONSOLE_URL`, whose host leads there; without both there is no console.',
    }),
  ),
  CONSOLE_URL: Type.Optional(consoleUrlVariable),
  INTERNAL_TOKEN: internalTokenVariable,
  PUBLIC_URL: Type.String({
    default: 'http://localhost:2024',
    pattern: '^https?://[^\\s/?#]+(/[^\\s?#]*)?$',
    description: 'Base URL of this gateway as clients know it: there MCP clients get tokens. That of org-access.',
  }),
  DEPLOYMENTS_DOMAIN: Type.Optional(
    Type.String({
      pattern: HOST_NAME_PATTERN,
      description: 'Deployments are served at `<slug>.<domain>` too, and nothing else is served below it.',
    }),
  ),
  ROOT_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'A file that names the deployment at the root, and its key. For a machine of one person.',
    }),
  ),
  ROOT_ORIGINS: Type.Optional(
    Type.Array(Type.String(), { description: 'Further origins whose pages may call there without a key.' }),
  ),
  PROJECT_USERS: Type.Optional(
    Type.String({
      pattern: '^\\d{1,10}-\\d{1,10}$',
      description: 'The variable of this name of data planes: processes of these users need a key there.',
    }),
  ),
  HTTP_MAX_REQUEST_BODY_BYTES: Type.Integer({ default: BODY_LIMIT_BYTES, minimum: 1 }),
  // Streams count too, and one of a gateway costs little.
  HTTP_MAX_REQUESTS_IN_FLIGHT: Type.Integer({
    default: 5000,
    minimum: 1,
    description: 'Requests, streams and websockets served at once; more are refused with 503.',
  }),
  HTTP_MAX_REQUESTS_PER_KEY: Type.Integer({
    default: 2500,
    minimum: 1,
    description: 'The same for one key; more are refused with 429.',
  }),
  HTTP_MAX_RUNS_PER_PERSON: openRuns('one person'),
  HTTP_MAX_RUNS_PER_WORKSPACE: openRuns('the deployments of one workspace'),
  HTTP_MAX_RUNS_PER_ORGANIZATION: openRuns('the deployments of one organization'),
  // One process answers so many within about two seconds on one core: more would wait before it, where nobody counts
  // them.
  HTTP_MAX_REQUESTS_PER_UPSTREAM: Type.Integer({
    default: 256,
    minimum: 1,
    description: 'Requests that one process of a deployment has not begun to answer; more are refused with 503.',
  }),
  HTTP_MAX_ARRIVAL_DELAY_SECONDS: Type.Number({
    default: 1.5,
    minimum: 0,
    description: 'Requests that waited longer to be read are refused with 503; 0: however long.',
  }),
  RATE_LIMIT_RPS: ratePerSecond(2_000, 'Requests of one key'),
  RATE_LIMIT_BURST: burst,
  RATE_LIMIT_TENANT_RPS: ratePerSecond(4_000, 'Requests with the keys of one workspace'),
  RATE_LIMIT_TENANT_BURST: burst,
  RATE_LIMIT_PERSON_RPS: ratePerSecond(0, 'Requests of one person, with all sessions and personal tokens'),
  RATE_LIMIT_PERSON_BURST: burst,
  RATE_LIMIT_ORGANIZATION_RPS: ratePerSecond(0, 'Requests of all callers of one organization'),
  RATE_LIMIT_ORGANIZATION_BURST: burst,
  RATE_LIMIT_ADDRESS_RPS: ratePerSecond(2_000, 'Requests of one address that show no key of the platform'),
  RATE_LIMIT_ADDRESS_BURST: burst,
  RATE_LIMIT_FAILURES_RPS: ratePerSecond(10, 'Failures to authenticate of one address or one key'),
  RATE_LIMIT_FAILURES_BURST: Type.Integer({ default: 500, minimum: 1, description: 'How many at once.' }),
  REDIS_URI: Type.Optional(ConnectionUri('redis', 'Replicas count together over it; without, each by itself.')),
  REDIS_KEY_PREFIX: Type.String({
    default: 'runyard',
    minLength: 1,
    description: 'Before every key; the same for all replicas of one platform.',
  }),
  // A safety net: changes come by event, and this bounds how long a lost one goes unnoticed.
  ROUTES_REFRESH_SECONDS: Type.Number({ default: 30, minimum: 1 }),
  TRUST_FORWARDED_HEADERS: Type.Boolean({
    default: false,
    description: 'Believe X-Forwarded-For, -Proto and -Host of everybody. Only where nobody but a proxy gets here.',
  }),
  TRUSTED_PROXIES: Type.Optional(
    Type.Array(Type.String(), { description: 'Addresses and networks of proxies of which they are believed.' }),
  ),
  HTTP_UNKNOWN_CALLER_BODY_SECONDS: Type.Number({
    default: 30,
    minimum: 0.1,
    description: 'What callers without a credential may take to send a body to a service of the platform.',
  }),
  // Longer than the time between heartbeats of long answers.
  UPSTREAM_SILENCE_SECONDS: Type.Number({
    default: 7,
    minimum: 0.1,
    description: 'An upstream that has sent nothing for this long is asked whether it lives.',
  }),
  DRAIN_SECONDS: Type.Number({
    default: 5,
    minimum: 0,
    description: 'Requests in flight may go on for this long at stop.',
  }),
});
export type Config = Static<typeof configSchema>;
