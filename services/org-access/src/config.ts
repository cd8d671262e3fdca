import { OrganizationPlan } from '@runyard/contracts';
import {
  ConnectionUri,
  consoleUrlVariable,
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
  DEFAULT_ORGANIZATION_PLAN: Type.Union(OrganizationPlan.anyOf, {
    default: 'enterprise',
    description: 'Plan of organizations that are made from now on.',
  }),
  PUBLIC_URL: Type.String({
    default: 'http://localhost:2024',
    pattern: '^https?://[^\\s/?#]+(/[^\\s?#]*)?$',
    description:
      'Base URL of the gateway as browsers and identity providers know it: links in emails and invites begin with it.',
  }),
  CONSOLE_URL: Type.Optional(consoleUrlVariable),
  CONTROL_PLANE_URL: Type.Optional(
    Type.String({
      description:
        'Base URL of control-plane, which counts deployments and finds those of MCP clients. Without it nothing of both.',
    }),
  ),
  SMTP_URL: Type.Optional(ConnectionUri('smtp', 'The mail server. Without it nothing is sent: invites are links.')),
  EMAIL_FROM: Type.Optional(
    Type.String({ minLength: 3, description: 'Sender of emails. Default: no-reply at the host of PUBLIC_URL.' }),
  ),
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Networks (CIDR) in which identity providers may be although they are not public.',
    }),
  ),
  FF_ORG_CREATION_DISABLED: Type.Boolean({ default: true, description: 'False: everybody may make organizations.' }),
  PERSONAL_ORGS_DISABLED: Type.Boolean({
    default: true,
    description: 'False: people whose login is not single sign-on may have an organization for themselves.',
  }),
  INVITE_TTL_DAYS: Type.Integer({ default: 14, minimum: 1, maximum: 365, description: 'How long an invite works.' }),
  WORKSPACE_SCOPE_ORG_INVITES_ENABLED: Type.Boolean({
    default: false,
    description:
      'Who manages the members of a workspace may invite people into it who are not in the organization yet.',
  }),
  PAT_CREATION_DISABLED: Type.Boolean({
    default: false,
    description: 'Forbids new personal access tokens in every organization.',
  }),
  SELF_HOSTED_JIT_PROVISIONING_ENABLED: Type.Boolean({
    default: true,
    description: 'False: sign-in provisions nobody, whatever organizations set.',
  }),
  OAUTH_CLIENT_ID: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'With the secret and the issuer: an OIDC provider of the default organization.',
    }),
  ),
  OAUTH_CLIENT_SECRET: Type.Optional(Type.String({ minLength: 1, description: 'Secret of `OAUTH_CLIENT_ID`.' })),
  OAUTH_ISSUER_URL: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'Issuer at which the provider is discovered.' }),
  ),
  OAUTH_SCOPES: Type.Optional(
    Type.String({ minLength: 1, description: 'Scopes for that provider. Default: `openid email profile`.' }),
  ),
  OAUTH_IDP_LOGOUT_ENABLED: Type.Optional(
    Type.Boolean({ description: 'True: signing out here signs out at that provider too.' }),
  ),
  OAUTH_SESSION_MAX_SEC: Type.Integer({
    default: 86_400,
    minimum: 300,
    maximum: 604_800,
    description: 'A session of single sign-on ends this long after its sign-in, and not after `SESSION_MAX_SECONDS`.',
  }),
  INITIAL_ORG_ADMIN_EMAIL: Type.Optional(
    Type.String({
      pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$',
      description:
        'The person with this address who signs in by a provider of the default organization becomes its Organization Admin, while no person is.',
    }),
  ),
  ISSUER_SUB_CLAIM_OVERRIDES: Type.Optional(
    Type.String({
      description:
        'JSON object from prefixes of issuers to the claim that identifies people. Default: `sub`, and `oid` for Microsoft.',
    }),
  ),
  // The tokens of a revoked key stay valid this long.
  PRINCIPAL_TOKEN_TTL_SECONDS: Type.Integer({ default: 60, minimum: 10, maximum: 60 }),
  SESSION_MAX_SECONDS: Type.Integer({
    default: 86_400,
    minimum: 300,
    maximum: 604_800,
    description: 'A session ends this long after its sign-in.',
  }),
  SESSION_IDLE_SECONDS: Type.Integer({
    default: 28_800,
    minimum: 300,
    maximum: 604_800,
    description: 'A session ends when it was not used for this long.',
  }),
  PROGRAM_SESSION_SECONDS: Type.Integer({
    default: 604_800,
    minimum: 300,
    maximum: 7_776_000,
    description:
      'The session of a program, such as the LangSmith CLI or an MCP client, ends this long after a person allowed it.',
  }),
  // Below the time for which the keys of retired signers stay published.
  ACCESS_TOKEN_TTL_SECONDS: Type.Integer({
    default: 900,
    minimum: 60,
    maximum: 1_800,
    description: 'Life of an access token, which ends with its session too.',
  }),
  AUDIT_RETENTION_DAYS: Type.Integer({
    default: 400,
    minimum: 1,
    maximum: 36_500,
    description: 'Age in days after which events of the audit trail are removed; a signed position of the chain stays.',
  }),
  SIGNING_KEY_ROTATION_DAYS: Type.Integer({ default: 90, minimum: 1, maximum: 3650 }),
});
export type Config = Static<typeof configSchema>;
