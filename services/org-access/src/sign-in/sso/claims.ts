import type { SsoAttributeMapping } from '@runyard/contracts';
import type { SsoProvider } from '../../generated/client.ts';

/** The claims of a person that sign-in reads. */
export interface PersonClaims {
  subject: string | null;
  email: string | null;
  fullName: string | null;
  /** Names of groups. */
  groups: string[];
}

/** Attributes by which SAML providers call the address when there is no mapping. */
const EMAIL_NAMES = [
  'email',
  'mail',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
];
const NAME_NAMES = [
  'name',
  'displayName',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name',
  'urn:oid:2.16.840.1.113730.3.1.241',
];
const GIVEN_NAMES = ['given_name', 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname'];
const FAMILY_NAMES = ['family_name', 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname'];
const GROUPS_MAX = 1_000;

/** Reads claims or attributes as the provider's mapping says. Pure. */
export function readClaims(
  claims: Readonly<Record<string, unknown>>,
  provider: Pick<SsoProvider, 'attributeMapping' | 'groupsClaim'>,
): PersonClaims {
  const mapping = (provider.attributeMapping as Partial<SsoAttributeMapping>).keys ?? {};
  const namesOf = (attribute: string, names: readonly string[]) =>
    Object.hasOwn(mapping, attribute) ? [mapping[attribute]!.name] : names;
  const text = (attribute: string, names: readonly string[]) =>
    namesOf(attribute, names)
      .map((name) => textOf(Object.hasOwn(claims, name) ? claims[name] : undefined))
      .find((value) => value !== null) ?? null;
  const [groupsName] = namesOf(provider.groupsClaim, [provider.groupsClaim]) as [string];
  const isOneGroup = Object.hasOwn(mapping, provider.groupsClaim) && mapping[provider.groupsClaim]!.array === false;
  const groups = listOf(Object.hasOwn(claims, groupsName) ? claims[groupsName] : undefined);
  const parts = [text('given_name', GIVEN_NAMES), text('family_name', FAMILY_NAMES)].filter((part) => part !== null);
  return {
    subject: text('sub', ['sub']),
    email: text('email', EMAIL_NAMES),
    fullName: text('name', NAME_NAMES) ?? (parts.length > 0 ? parts.join(' ') : null),
    groups: (isOneGroup ? groups.slice(0, 1) : groups).slice(0, GROUPS_MAX),
  };
}

function textOf(value: unknown): string | null {
  const [first] = listOf(value);
  return first === undefined ? null : first;
}

/** Returns the texts of a claim with one value or several. */
function listOf(value: unknown): string[] {
  return [value]
    .flat()
    .filter((each): each is string => typeof each === 'string')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
