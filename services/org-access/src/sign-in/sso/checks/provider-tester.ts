import type { SsoCheck, SsoTestResult } from '@runyard/contracts';
import type { Principal } from '@runyard/service-kit';
import { requireOrganizationAdministrator } from '../../../access/require-administrator.ts';
import type { Database } from '../../../database/database.ts';
import { isVerifiedDomain } from '../email-domains.ts';
import type { IdentityProviderClient } from '../identity-provider-client.ts';
import type { OidcClient } from '../oidc/oidc-client.ts';
import { findProvider } from '../provider-service.ts';
import type { ProviderSources } from '../provider-sources.ts';
import { checkOidc } from './check-oidc.ts';
import { failed, passed } from './check-outcomes.ts';
import { checkSaml } from './check-saml.ts';

/** Tests identity providers before people depend on them. Nothing is changed, and nobody is signed in. */
export class SsoProviderTester {
  readonly #database: Database;
  readonly #http: IdentityProviderClient;
  readonly #oidc: OidcClient;
  readonly #sources: ProviderSources;

  constructor(options: {
    database: Database;
    http: IdentityProviderClient;
    oidc: OidcClient;
    sources: ProviderSources;
  }) {
    this.#database = options.database;
    this.#http = options.http;
    this.#oidc = options.oidc;
    this.#sources = options.sources;
  }

  /** @throws ForbiddenError, NotFoundError */
  async test(caller: Principal, id: string): Promise<SsoTestResult> {
    requireOrganizationAdministrator(caller, 'set up single sign-on');
    const { organizationId } = caller;
    const provider = await findProvider(this.#database.prisma, organizationId, id);
    const checks =
      provider.protocol === 'oidc'
        ? await checkOidc(provider, { client: this.#oidc, http: this.#http })
        : await checkSaml(provider, this.#sources);
    const domains = provider.domains.map(({ domain }) => domain);
    checks.push(...(await this.#checkDomains(organizationId, domains)));
    const ok = checks.every(({ outcome }) => outcome === 'passed' || outcome === 'warning');
    return { ok, checks, tested_at: new Date().toISOString() };
  }

  async #checkDomains(organizationId: string, domains: readonly string[]): Promise<SsoCheck[]> {
    const { isDefault } = await this.#database.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } });
    // Administrators of the default organization run the installation, and need no record.
    if (isDefault || domains.length === 0) return [];
    const areVerified = await Promise.all(domains.map((domain) => isVerifiedDomain(domain, organizationId)));
    const unverified = domains.filter((_, index) => !areVerified[index]);
    if (unverified.length > 0) return [failed('domains', `No TXT record shows whose it is: ${unverified.join(', ')}.`)];
    return [passed('domains', 'Each domain has its TXT record.')];
  }
}
