import type { SsoProviderSlim } from '@runyard/contracts';
import type { Database } from '../../database/database.ts';
import { withLoginSlug } from '../../directory/organizations/login-slug.ts';
import type { Prisma } from '../../generated/client.ts';
import { domainOfEmail } from './email-domains.ts';

/** Finds identity providers for people who are about to sign in. It says nothing about who has an account. */
export class SsoLookupService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  bySlug(slug: string): Promise<SsoProviderSlim[]> {
    return this.#find({ organization: withLoginSlug(slug) });
  }

  async byEmail(email: string): Promise<SsoProviderSlim[]> {
    const domain = domainOfEmail(email);
    return domain === null ? [] : this.#find({ domains: { some: { domain } } });
  }

  async #find(where: Prisma.SsoProviderWhereInput): Promise<SsoProviderSlim[]> {
    const rows = await this.#database.prisma.ssoProvider.findMany({
      where: { ...where, isEnabled: true },
      include: { organization: { select: { displayName: true } } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    return rows.map(({ id, organizationId, organization }) => ({
      provider_id: id,
      organization_id: organizationId,
      organization_display_name: organization.displayName,
    }));
  }
}
