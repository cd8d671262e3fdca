import { ConfigError } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import type { EnvironmentProviderSettings } from './environment-provider.ts';
import { parseSubjectClaims, type SubjectClaims } from './oidc/subject-claim.ts';
import { DEFAULT_SCOPES } from './provider-configuration.ts';

/** The variables of single sign-on. */
export const ssoVariables = {
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
    Type.String({ minLength: 1, description: `Scopes for that provider. Default: \`${DEFAULT_SCOPES}\`.` }),
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
};
const schema = Type.Object(ssoVariables);
type SsoVariables = Static<typeof schema>;

/** Returns the provider of the variables; null without any. @throws ConfigError when some are missing */
export function readEnvironmentProvider(config: SsoVariables): EnvironmentProviderSettings | null {
  const { OAUTH_CLIENT_ID: clientId, OAUTH_CLIENT_SECRET: clientSecret, OAUTH_ISSUER_URL: issuerUrl } = config;
  if (clientId !== undefined && clientSecret !== undefined && issuerUrl !== undefined) {
    const scopes = config.OAUTH_SCOPES ?? DEFAULT_SCOPES;
    if (!scopes.split(' ').includes('openid')) throw new ConfigError(['OAUTH_SCOPES: The scope openid is required.']);
    const logoutAtProvider = config.OAUTH_IDP_LOGOUT_ENABLED ?? false;
    return { clientSecret, configuration: { issuerUrl, clientId, scopes, logoutAtProvider, isFromEnvironment: true } };
  }
  const given = [
    'OAUTH_CLIENT_ID',
    'OAUTH_CLIENT_SECRET',
    'OAUTH_ISSUER_URL',
    'OAUTH_SCOPES',
    'OAUTH_IDP_LOGOUT_ENABLED',
  ].find((name) => config[name as keyof SsoVariables] !== undefined);
  if (given === undefined) return null;
  throw new ConfigError([`${given}: OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET and OAUTH_ISSUER_URL are needed together.`]);
}

/** @throws ConfigError */
export function readSubjectClaims({ ISSUER_SUB_CLAIM_OVERRIDES: text }: SsoVariables): SubjectClaims {
  try {
    return parseSubjectClaims(text);
  } catch (error) {
    throw new ConfigError([`ISSUER_SUB_CLAIM_OVERRIDES: ${(error as Error).message}`]);
  }
}
