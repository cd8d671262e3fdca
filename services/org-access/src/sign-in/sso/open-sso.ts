import { retryStartStep } from '@runyard/database';
import { type BoundOperation, ConfigError } from '@runyard/service-kit';
import type { Foundation } from '../../foundation.ts';
import { SsoUrls } from '../../sso-urls.ts';
import { SsoSignInService } from '../sso-sign-in.ts';
import { SsoProviderTester } from './checks/provider-tester.ts';
import { SignInCompletion } from './complete-sign-in.ts';
import { isVerifiedDomain } from './email-domains.ts';
import { EnvironmentProvider } from './environment-provider.ts';
import { IdentityProviderClient } from './identity-provider-client.ts';
import { SsoLookupService } from './lookup-service.ts';
import { MetadataRefresher } from './metadata-refresher.ts';
import { BackchannelLogout } from './oidc/backchannel-logout.ts';
import { OidcClient } from './oidc/oidc-client.ts';
import { OidcSignIn } from './oidc/oidc-sign-in.ts';
import { PendingSignIns } from './pending-sign-ins.ts';
import { SsoProviderService } from './provider-service.ts';
import { ProviderSources } from './provider-sources.ts';
import { readEnvironmentProvider, readSubjectClaims } from './read-variables.ts';
import { SamlClient } from './saml/saml-client.ts';
import { SamlSignIn } from './saml/saml-sign-in.ts';
import { type SignInParts, signInRoutes } from './sign-in-routes.ts';
import { SsoLogout } from './sso-logout.ts';
import { ssoRoutes } from './sso-routes.ts';

export interface Sso {
  routes: BoundOperation[];
  logout: SsoLogout;
  /** Makes the provider that the environment describes. Never fails: a bootstrap's answer shows a key once. */
  ensureEnvironmentProvider(): Promise<void>;
}

/** Opens single sign-on. @throws ConfigError */
export async function openSso(foundation: Foundation): Promise<Sso> {
  const { config, context, database, cipher, keys } = foundation;
  const { logger, lifecycle } = context;
  const http = openClient(config.OUTBOUND_ALLOWED_NETWORKS ?? []);
  const urls = new SsoUrls(config.PUBLIC_URL);
  const sources = new ProviderSources(http);
  const providers = new SsoProviderService({ database, cipher, urls, sources });
  const environment = new EnvironmentProvider({ database, cipher, settings: readEnvironmentProvider(config) });
  const refresher = new MetadataRefresher({ database, sources, logger });
  await retryStartStep(() => environment.ensure(), context);
  refresher.start();
  lifecycle.onStop('identity providers', async () => {
    await refresher.stop();
    await http.close();
  });
  const client = new OidcClient({ http, cipher, urls });
  const signIn = openSignIn(foundation, client, urls);
  const tester = new SsoProviderTester({ database, http, oidc: client, sources });
  const lookups = new SsoLookupService({ database });
  return {
    routes: [...ssoRoutes({ providers, tester, lookups, keys }), ...signInRoutes(signIn)],
    logout: signIn.logout,
    // The next start makes up for a failure.
    ensureEnvironmentProvider: () =>
      environment
        .ensure()
        .catch((error) => logger.error('the identity provider of the environment was not made', { error })),
  };
}

function openSignIn({ config, database, cipher }: Foundation, client: OidcClient, urls: SsoUrls): SignInParts {
  const samlClient = new SamlClient({ urls });
  const pending = new PendingSignIns({ database, cipher });
  const installationAllowsJit = config.SELF_HOSTED_JIT_PROVISIONING_ENABLED;
  return {
    database,
    oidc: new OidcSignIn({ client, pending, subjectClaims: readSubjectClaims(config) }),
    saml: new SamlSignIn({ database, client: samlClient, pending, ownsDomain: isVerifiedDomain }),
    samlClient,
    completion: new SignInCompletion({
      database,
      cipher,
      signIn: new SsoSignInService({
        database,
        installationAllowsJit,
        initialAdministrator: config.INITIAL_ORG_ADMIN_EMAIL,
      }),
      sessionSeconds: Math.min(config.OAUTH_SESSION_MAX_SEC, config.SESSION_MAX_SECONDS),
    }),
    backchannel: new BackchannelLogout({ database, client }),
    logout: new SsoLogout({ database, cipher, oidc: client }),
  };
}

function openClient(allowedNetworks: string[]): IdentityProviderClient {
  try {
    return new IdentityProviderClient({ allowedNetworks });
  } catch (error) {
    throw new ConfigError([`OUTBOUND_ALLOWED_NETWORKS: ${(error as Error).message}`]);
  }
}
