import { resolveTxt } from 'node:dns/promises';
import { domainToASCII } from 'node:url';
import { InvalidFieldError } from '@runyard/service-kit';

/** Returns a domain in lower case and ASCII. @throws InvalidFieldError */
export function normalizeDomain(text: string): string {
  const domain = domainToASCII(text.trim().replace(/^@/, '').replace(/\.$/, '')).toLowerCase();
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain))
    throw new InvalidFieldError(['body', 'email_domains'], `"${text}" is not a domain.`, {
      code: 'sso_provider_invalid',
    });
  return domain;
}

/** Returns the domain of an address in the form of `normalizeDomain`; null for what is no address. */
export function domainOfEmail(email: string): string | null {
  const domain = domainToASCII(email.trim().split('@').at(-1) ?? '').toLowerCase();
  return email.includes('@') && domain !== '' ? domain : null;
}

/** Returns whether the owner of a domain names the organization by a DNS record. False while DNS does not answer. */
export async function isVerifiedDomain(domain: string, organizationId: string): Promise<boolean> {
  const records = await resolveTxt(recordName(domain)).catch(() => []);
  return records.some((chunks) => chunks.join('') === recordValue(organizationId));
}

/**
 * Requires the DNS record by which the owner of a domain names the organization. Without it, an organization could have
 * the people of another sent to its own provider.
 *
 * @throws InvalidFieldError
 */
export async function requireVerifiedDomain(domain: string, organizationId: string): Promise<void> {
  if (await isVerifiedDomain(domain, organizationId)) return;
  throw new InvalidFieldError(
    ['body', 'email_domains'],
    `There is no TXT record "${recordValue(organizationId)}" at ${recordName(domain)}.`,
    { code: 'sso_domain_unverified' },
  );
}

const recordName = (domain: string) => `_runyard-sso.${domain}`;
const recordValue = (organizationId: string) => `runyard-sso=${organizationId}`;
