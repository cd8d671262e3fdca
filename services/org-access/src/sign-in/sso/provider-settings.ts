import type { SsoSettingsCreate, SsoSettingsUpdate } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import {
  DEFAULT_SCOPES,
  type OidcConfiguration,
  oidcOf,
  type SamlConfiguration,
  samlOf,
} from './provider-configuration.ts';
import type { ProviderSources } from './provider-sources.ts';
import type { ProviderWithDomains } from './provider-view.ts';

/** The connection of a provider, as its row stores it. */
export interface Connection {
  protocol: 'oidc' | 'saml';
  configuration: OidcConfiguration | SamlConfiguration;
  metadata?: string;
}

/** Metadata of SAML that the provider gave. */
export type FetchedMetadata = Awaited<ReturnType<ProviderSources['readMetadata']>>;

const OIDC_FIELDS = [
  'issuer_url',
  'client_id',
  'client_secret',
  'scopes',
  'logout_at_provider',
  'is_email_trusted',
  'has_own_callback',
] as const;
const SAML_FIELDS = ['metadata_url', 'metadata_xml', 'is_response_signed', 'idp_initiated_enabled'] as const;
/** Attributes of people that claims may be mapped to, beside the one of groups. */
const MAPPED_ATTRIBUTES = ['sub', 'email', 'name', 'given_name', 'family_name'];

/**
 * Checks what a request says about the connection, and asks the provider for its metadata where that is needed: outside of
 * transactions.
 *
 * @returns null when the metadata stays
 * @throws InvalidFieldError
 */
export async function fetchMetadata(
  body: SsoSettingsCreate | SsoSettingsUpdate,
  sources: ProviderSources,
): Promise<FetchedMetadata | null> {
  if (body.metadata_url !== undefined && body.metadata_xml !== undefined)
    throw invalid('metadata_xml', 'Only one of metadata_url and metadata_xml is possible.');
  const isSame = body.metadata_url === undefined && body.metadata_xml === undefined;
  return isSame ? null : sources.readMetadata(body);
}

/**
 * Returns the connection of a provider after a request.
 *
 * @param current the provider as it is under the lock of the change, so that no other change is lost; null: it is new
 * @throws InvalidFieldError
 */
export function mergeConnection(
  body: SsoSettingsCreate | SsoSettingsUpdate,
  current: ProviderWithDomains | null,
  sources: ProviderSources,
  fetched: FetchedMetadata | null,
): Connection {
  refuseUnknownAttributes(body, current);
  if (requireProtocol(body, current?.protocol) === 'oidc')
    return { protocol: 'oidc', configuration: readOidc(body, current, sources) };
  return readSaml(body, current, fetched);
}

/** @param known the protocol of a provider that exists @throws InvalidFieldError for a field of the other protocol */
export function requireProtocol(
  body: SsoSettingsCreate | SsoSettingsUpdate,
  known: string | undefined,
): 'oidc' | 'saml' {
  const protocol = (known ?? protocolOf(body)) === 'oidc' ? 'oidc' : 'saml';
  refuseFields(body, protocol === 'oidc' ? SAML_FIELDS : OIDC_FIELDS, protocol);
  return protocol;
}

/**
 * Returns whether a provider has browsers sent back to an address of its own after a request. The shared one stays as long
 * as the issuer that it is registered at; no provider goes back to it.
 */
export function needsOwnCallback(body: SsoSettingsUpdate, before: ProviderWithDomains): boolean {
  if (before.hasOwnCallback || before.protocol !== 'oidc') return before.hasOwnCallback;
  const isMoved = body.issuer_url !== undefined && body.issuer_url !== oidcOf(before).issuerUrl;
  return isMoved || body.has_own_callback === true;
}

function protocolOf(body: SsoSettingsCreate | SsoSettingsUpdate): 'oidc' | 'saml' {
  if (body.issuer_url !== undefined) return 'oidc';
  if (body.metadata_url !== undefined || body.metadata_xml !== undefined) return 'saml';
  throw invalid('issuer_url', 'One of issuer_url, metadata_url and metadata_xml is required.');
}

function readOidc(
  body: SsoSettingsCreate | SsoSettingsUpdate,
  current: ProviderWithDomains | null,
  sources: ProviderSources,
): OidcConfiguration {
  const before = current ? oidcOf(current) : undefined;
  const issuerUrl = body.issuer_url ?? before?.issuerUrl;
  const clientId = body.client_id ?? before?.clientId;
  if (issuerUrl === undefined || clientId === undefined) throw invalid('client_id', 'client_id is required.');
  if (!current && body.client_secret === undefined) throw invalid('client_secret', 'client_secret is required.');
  if (body.issuer_url !== undefined) sources.requireUrl('issuer_url', issuerUrl);
  if (before && body.client_secret === undefined && issuerUrl !== before.issuerUrl) {
    // Otherwise whoever may change the settings could have the secret sent to an issuer of their own.
    throw invalid('client_secret', 'A new issuer needs its client_secret.');
  }
  const scopes = body.scopes ?? before?.scopes ?? DEFAULT_SCOPES;
  if (!scopes.split(' ').includes('openid')) throw invalid('scopes', 'The scope openid is required.');
  return {
    issuerUrl,
    clientId,
    scopes,
    logoutAtProvider: body.logout_at_provider ?? before?.logoutAtProvider ?? false,
    isFromEnvironment: before?.isFromEnvironment ?? false,
  };
}

function readSaml(
  body: SsoSettingsCreate | SsoSettingsUpdate,
  current: ProviderWithDomains | null,
  fetched: FetchedMetadata | null,
): Connection {
  const before = current ? samlOf(current) : undefined;
  const configuration: SamlConfiguration = {
    metadataUrl: fetched ? (body.metadata_url ?? null) : before!.metadataUrl,
    entityId: fetched?.entityId ?? before!.entityId,
    isResponseSigned: body.is_response_signed ?? before?.isResponseSigned ?? false,
    idpInitiatedEnabled: body.idp_initiated_enabled ?? before?.idpInitiatedEnabled ?? false,
  };
  return { protocol: 'saml', configuration, ...(fetched && { metadata: fetched.xml }) };
}

function refuseFields(body: object, fields: readonly string[], protocol: string): void {
  const wrong = fields.find((field) => field in body);
  if (wrong) throw invalid(wrong, `A provider of ${protocol.toUpperCase()} has no ${wrong}.`);
}

function refuseUnknownAttributes(body: SsoSettingsUpdate, current: ProviderWithDomains | null): void {
  const groups = body.sso_groups_claim_field ?? current?.groupsClaim ?? 'groups';
  const unknown = Object.keys(body.attribute_mapping?.keys ?? {}).find(
    (key) => key !== groups && !MAPPED_ATTRIBUTES.includes(key),
  );
  if (unknown !== undefined)
    throw invalid('attribute_mapping', `"${unknown}" is none of ${[...MAPPED_ATTRIBUTES, groups].join(', ')}.`);
}

function invalid(field: string, message: string): InvalidFieldError {
  return new InvalidFieldError(['body', field], message, { code: 'sso_provider_invalid' });
}
