import type { Prisma } from '../../../generated/client.ts';
import { readClaims } from '../claims.ts';
import { domainOfEmail } from '../email-domains.ts';
import type { ProviderWithDomains } from '../provider-view.ts';
import type { Assertion } from './saml-client.ts';

/** A provider, and the assertion that it signed. */
export interface SignedAnswer {
  provider: ProviderWithDomains;
  assertion: Assertion;
}

/** Returns whether the owner of a domain names this organization at this moment. */
export type OwnsDomain = (domain: string, organizationId: string) => Promise<boolean>;

/**
 * Chooses the organization for a response that nobody asked for, when several set the same provider up: the one that owns
 * the domain of the address. It is enough to read a provider's metadata to set it up, so neither a domain without proof
 * nor an attribute that an organization maps to the address counts.
 *
 * @returns undefined when none of them owns the domain, or several do
 */
export async function chooseByDomain(
  answers: readonly SignedAnswer[],
  ownsDomain: OwnsDomain,
): Promise<SignedAnswer | undefined> {
  const owned = await Promise.all(
    answers.map(async (answer) => {
      const domain = listedDomain(answer);
      return domain !== undefined && (await ownsDomain(domain, answer.provider.organizationId));
    }),
  );
  const owners = answers.filter((_, index) => owned[index]);
  return owners.length === 1 ? owners[0] : undefined;
}

/** Returns the domain of the address, if the provider's settings list it, and the mapping does not read another. */
function listedDomain({ provider, assertion: { attributes } }: SignedAnswer): string | undefined {
  const domainBy = (attributeMapping: Prisma.JsonValue) => {
    const { email } = readClaims(attributes, { attributeMapping, groupsClaim: provider.groupsClaim });
    return email === null ? null : domainOfEmail(email);
  };
  const domain = domainBy({});
  if (domain === null || domainBy(provider.attributeMapping) !== domain) return undefined;
  return provider.domains.some((listed) => listed.domain === domain) ? domain : undefined;
}
