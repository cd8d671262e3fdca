import type { SsoAttributeMapping, SsoSettings } from '@runyard/contracts';
import type { SsoDomain, SsoProvider } from '../../generated/client.ts';
import type { SsoUrls } from '../../sso-urls.ts';
import { oidcOf, samlOf } from './provider-configuration.ts';

export type ProviderWithDomains = SsoProvider & { domains: SsoDomain[] };

/** Renders a provider for administrators. The client secret is never shown. */
export function renderProvider(provider: ProviderWithDomains, urls: SsoUrls): SsoSettings {
  return {
    id: provider.id,
    organization_id: provider.organizationId,
    provider_id: provider.id,
    display_name: provider.displayName,
    is_enabled: provider.isEnabled,
    default_workspace_role_id: provider.defaultWorkspaceRoleId,
    default_workspace_ids: provider.defaultWorkspaceIds,
    attribute_mapping:
      'keys' in Object(provider.attributeMapping) ? (provider.attributeMapping as SsoAttributeMapping) : null,
    email_domains: provider.domains.map(({ domain }) => domain).sort(),
    is_email_trusted: provider.isEmailTrusted,
    sso_groups_enabled: provider.groupsEnabled,
    sso_groups_claim_field: provider.groupsClaim,
    sso_groups_required: provider.groupsRequired,
    sso_groups_role_sync_enabled: provider.groupsRoleSyncEnabled,
    ...(provider.protocol === 'oidc' ? renderOidc(provider, urls) : renderSaml(provider, urls)),
    created_at: provider.createdAt.toISOString(),
    updated_at: provider.updatedAt.toISOString(),
  };
}

function renderOidc(provider: SsoProvider, urls: SsoUrls) {
  const { issuerUrl, clientId, scopes, logoutAtProvider, isFromEnvironment } = oidcOf(provider);
  return {
    protocol: 'oidc' as const,
    issuer_url: issuerUrl,
    client_id: clientId,
    scopes,
    logout_at_provider: logoutAtProvider,
    metadata_url: null,
    metadata_xml: null,
    is_response_signed: false,
    idp_initiated_enabled: false,
    callback_url: urls.oidcCallback(provider),
    has_own_callback: provider.hasOwnCallback,
    sp_entity_id: null,
    backchannel_logout_url: urls.backchannelLogout,
    is_from_environment: isFromEnvironment,
  };
}

function renderSaml(provider: SsoProvider, urls: SsoUrls) {
  const { metadataUrl, isResponseSigned, idpInitiatedEnabled } = samlOf(provider);
  return {
    protocol: 'saml' as const,
    issuer_url: null,
    client_id: null,
    scopes: null,
    logout_at_provider: false,
    metadata_url: metadataUrl,
    metadata_xml: metadataUrl === null ? provider.metadata : null,
    is_response_signed: isResponseSigned,
    idp_initiated_enabled: idpInitiatedEnabled,
    callback_url: urls.samlConsumer,
    has_own_callback: false,
    sp_entity_id: urls.samlEntityId,
    backchannel_logout_url: null,
    is_from_environment: false,
  };
}
