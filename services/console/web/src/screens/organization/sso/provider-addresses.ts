import type { OrganizationAddresses, OrganizationInfo, SsoSettings } from '@runyard/contracts';
import type { Address } from './address-list.tsx';

/** Returns what has to be entered at an identity provider for a provider that exists. */
export function addressesOf({ protocol, ...settings }: SsoSettings): Address[] {
  if (protocol === 'saml')
    return samlAddressesOf({ saml_entity_id: settings.sp_entity_id ?? '', saml_consumer: settings.callback_url });
  return [
    { label: 'Callback URL', value: settings.callback_url },
    ...(settings.backchannel_logout_url === null
      ? []
      : [{ label: 'Back-channel logout URL', value: settings.backchannel_logout_url }]),
  ];
}

/** Returns what has to be entered at a provider of SAML, also before it exists here. */
export function samlAddressesOf(addresses: Pick<OrganizationAddresses, 'saml_entity_id' | 'saml_consumer'>): Address[] {
  return [
    { label: 'Entity ID, and address of our metadata', value: addresses.saml_entity_id },
    { label: 'Assertion consumer service (ACS)', value: addresses.saml_consumer },
  ];
}

/**
 * Returns the DNS records by which an organization shows that domains are its own. The default organization needs none.
 */
export function domainRecordsOf(
  { id, default_sso_provision: isDefault }: Pick<OrganizationInfo, 'id' | 'default_sso_provision'>,
  domains: readonly string[],
): Address[] {
  if (isDefault) return [];
  return domains.map((domain) => ({
    label: `TXT record at _runyard-sso.${domain}`,
    value: `runyard-sso=${id}`,
  }));
}
