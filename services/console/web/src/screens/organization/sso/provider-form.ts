import type { SsoAttributeMapping, SsoSettings, SsoSettingsCreate, SsoSettingsUpdate } from '@runyard/contracts';

/** The attributes of a person that are read from a claim, or from an attribute of SAML. */
export const ATTRIBUTES = [
  { name: 'sub', label: 'Id of the account' },
  { name: 'email', label: 'Email address' },
  { name: 'name', label: 'Full name' },
  { name: 'given_name', label: 'First name' },
  { name: 'family_name', label: 'Last name' },
] as const;
type AttributeName = (typeof ATTRIBUTES)[number]['name'];

/** The form of an identity provider, as typed. */
export interface ProviderForm {
  protocol: 'oidc' | 'saml';
  name: string;
  isEnabled: boolean;
  issuerUrl: string;
  clientId: string;
  /** Empty for a provider that exists: it keeps its secret. */
  clientSecret: string;
  scopes: string;
  isEmailTrusted: boolean;
  logsOutAtProvider: boolean;
  movesToOwnCallback: boolean;
  metadataFrom: 'url' | 'xml';
  metadataUrl: string;
  metadataXml: string;
  isResponseSigned: boolean;
  idpInitiated: boolean;
  /** Separated by commas, spaces or lines. */
  domains: string;
  roleId: string;
  workspaceIds: string[];
  areGroupsRead: boolean;
  groupsClaim: string;
  areGroupsRequired: boolean;
  areGroupsSynced: boolean;
  /** Names of claims by the attribute; empty: the usual ones. */
  claims: Record<AttributeName, string>;
}

/** Returns the form of a provider that exists, or of a new one. */
export function formOf(
  settings: SsoSettings | undefined,
  first: { roleId: string; workspaceId: string },
): ProviderForm {
  const nameOf = (attribute: AttributeName) => settings?.attribute_mapping?.keys[attribute]?.name ?? '';
  return {
    protocol: settings?.protocol ?? 'oidc',
    name: settings?.display_name ?? '',
    isEnabled: settings?.is_enabled ?? true,
    issuerUrl: settings?.issuer_url ?? '',
    clientId: settings?.client_id ?? '',
    clientSecret: '',
    scopes: settings?.scopes ?? '',
    isEmailTrusted: settings?.is_email_trusted ?? false,
    logsOutAtProvider: settings?.logout_at_provider ?? false,
    movesToOwnCallback: false,
    metadataFrom: settings?.metadata_xml ? 'xml' : 'url',
    metadataUrl: settings?.metadata_url ?? '',
    metadataXml: settings?.metadata_xml ?? '',
    isResponseSigned: settings?.is_response_signed ?? false,
    idpInitiated: settings?.idp_initiated_enabled ?? false,
    domains: settings?.email_domains.join(', ') ?? '',
    roleId: settings?.default_workspace_role_id ?? first.roleId,
    workspaceIds: settings?.default_workspace_ids ?? [first.workspaceId],
    areGroupsRead: settings?.sso_groups_enabled ?? false,
    groupsClaim: settings?.sso_groups_claim_field ?? 'groups',
    areGroupsRequired: settings?.sso_groups_required ?? false,
    areGroupsSynced: settings?.sso_groups_role_sync_enabled ?? true,
    claims: {
      sub: nameOf('sub'),
      email: nameOf('email'),
      name: nameOf('name'),
      given_name: nameOf('given_name'),
      family_name: nameOf('family_name'),
    },
  };
}

/** Returns the request that makes the provider. Fields of the other protocol and empty ones stay out. */
export function creationOf(form: ProviderForm): SsoSettingsCreate {
  const { default_workspace_role_id, default_workspace_ids, ...fields } = fieldsOf(form, null);
  return {
    ...withoutEmpty(fields),
    default_workspace_role_id: default_workspace_role_id!,
    default_workspace_ids: default_workspace_ids!,
  };
}

/** Returns the request that makes of a provider what the form says: with the fields alone that it changes. */
export function changeOf(settings: SsoSettings, form: ProviderForm): SsoSettingsUpdate {
  const first = { roleId: '', workspaceId: '' };
  const before = fieldsOf(formOf(settings, first), settings.attribute_mapping) as Record<string, unknown>;
  const after = Object.entries(fieldsOf(form, settings.attribute_mapping));
  const changed = after.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
  return {
    ...Object.fromEntries(changed),
    ...(form.protocol === 'oidc' && form.movesToOwnCallback && { has_own_callback: true as const }),
  };
}

function fieldsOf(form: ProviderForm, mapping: SsoAttributeMapping | null): SsoSettingsUpdate {
  const keys = keysOf(form, mapping);
  return {
    display_name: form.name.trim(),
    is_enabled: form.isEnabled,
    default_workspace_role_id: form.roleId,
    default_workspace_ids: form.workspaceIds,
    email_domains: form.domains.split(/[\s,;]+/).filter((domain) => domain !== ''),
    sso_groups_enabled: form.areGroupsRead,
    sso_groups_claim_field: form.groupsClaim.trim(),
    sso_groups_required: form.areGroupsRequired,
    sso_groups_role_sync_enabled: form.areGroupsSynced,
    ...((mapping !== null || Object.keys(keys).length > 0) && { attribute_mapping: { keys } }),
    ...(form.protocol === 'oidc' ? oidcFieldsOf(form) : samlFieldsOf(form)),
  };
}

function oidcFieldsOf(form: ProviderForm): SsoSettingsUpdate {
  return {
    issuer_url: form.issuerUrl.trim(),
    client_id: form.clientId.trim(),
    ...(form.clientSecret !== '' && { client_secret: form.clientSecret }),
    scopes: form.scopes.trim(),
    is_email_trusted: form.isEmailTrusted,
    logout_at_provider: form.logsOutAtProvider,
  };
}

function samlFieldsOf(form: ProviderForm): SsoSettingsUpdate {
  return {
    ...(form.metadataFrom === 'url'
      ? { metadata_url: form.metadataUrl.trim() }
      : { metadata_xml: form.metadataXml.trim() }),
    is_response_signed: form.isResponseSigned,
    idp_initiated_enabled: form.idpInitiated,
  };
}

/** Keeps what the form does not show: attributes with several values, and the mapping of groups under its name. */
function keysOf(
  { claims, groupsClaim }: Pick<ProviderForm, 'claims' | 'groupsClaim'>,
  mapping: SsoAttributeMapping | null,
): SsoAttributeMapping['keys'] {
  const groups = groupsClaim.trim();
  const mappingOfGroups = mapping?.keys[groups];
  const keys: SsoAttributeMapping['keys'] = { ...(mappingOfGroups && { [groups]: mappingOfGroups }) };
  for (const { name } of ATTRIBUTES) {
    const claim = claims[name].trim();
    if (claim !== '') keys[name] = { ...mapping?.keys[name], name: claim };
  }
  return keys;
}

function withoutEmpty(
  fields: SsoSettingsUpdate,
): Omit<SsoSettingsCreate, 'default_workspace_role_id' | 'default_workspace_ids'> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}
