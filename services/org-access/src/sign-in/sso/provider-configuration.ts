import type { SsoProvider } from '../../generated/client.ts';

/** How an OIDC provider is reached. */
export interface OidcConfiguration {
  issuerUrl: string;
  clientId: string;
  /** Separated by spaces. */
  scopes: string;
  /** True when signing out here signs out at the provider. */
  logoutAtProvider: boolean;
  /** True when the variables of the installation decide on the fields above. */
  isFromEnvironment: boolean;
}

/** How a SAML provider is trusted. Its metadata has a column. */
export interface SamlConfiguration {
  /** Null: the metadata was given as text. */
  metadataUrl: string | null;
  /** Entity id in the metadata, by which responses that nobody asked for are assigned. */
  entityId: string;
  isResponseSigned: boolean;
  idpInitiatedEnabled: boolean;
}

export const DEFAULT_SCOPES = 'openid email profile';

export function oidcOf(provider: Pick<SsoProvider, 'configuration'>): OidcConfiguration {
  return provider.configuration as unknown as OidcConfiguration;
}

export function samlOf(provider: Pick<SsoProvider, 'configuration'>): SamlConfiguration {
  return provider.configuration as unknown as SamlConfiguration;
}

/** Returns the place of a provider's client secret for encryption. */
export function clientSecretPlace(providerId: string): string {
  return `sso_provider/${providerId}/client_secret`;
}
