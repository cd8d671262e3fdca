import { ConfigError } from '@runyard/service-kit';
import type { Config } from '../../config.ts';
import type { EnvironmentProviderSettings } from './environment-provider.ts';
import { parseSubjectClaims, type SubjectClaims } from './oidc/subject-claim.ts';
import { DEFAULT_SCOPES } from './provider-configuration.ts';

/** Returns the provider of the variables; null without any. @throws ConfigError when some are missing */
export function readEnvironmentProvider(config: Config): EnvironmentProviderSettings | null {
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
  ].find((name) => config[name as keyof Config] !== undefined);
  if (given === undefined) return null;
  throw new ConfigError([`${given}: OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET and OAUTH_ISSUER_URL are needed together.`]);
}

/** @throws ConfigError */
export function readSubjectClaims({ ISSUER_SUB_CLAIM_OVERRIDES: text }: Config): SubjectClaims {
  try {
    return parseSubjectClaims(text);
  } catch (error) {
    throw new ConfigError([`ISSUER_SUB_CLAIM_OVERRIDES: ${(error as Error).message}`]);
  }
}
