import type {
  OrganizationInfo,
  OrganizationUpdate,
  SsoSettings,
  SsoSettingsCreate,
  SsoSettingsUpdate,
  SsoTestResult,
} from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';

const SETTINGS = at`/api/v1/orgs/current/sso-settings`;

/** The identity providers of the organization, the oldest first. Only an Organization Admin may ask for them. */
export function ssoProvidersQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['sso', workspaceId],
    queryFn: ({ signal }) => ask<SsoSettings[]>(SETTINGS, { workspaceId, signal }),
  });
}

/** Repeated with the same key, it makes no second provider. @throws PlatformError */
export function createSsoProvider(workspaceId: string, body: SsoSettingsCreate, key: string): Promise<SsoSettings> {
  const headers = { 'idempotency-key': key };
  return ask<SsoSettings>(SETTINGS, { method: 'POST', workspaceId, body, headers });
}

/** @throws PlatformError */
export function updateSsoProvider(workspaceId: string, id: string, body: SsoSettingsUpdate): Promise<SsoSettings> {
  return ask<SsoSettings>(at`${SETTINGS}/${id}`, { method: 'PATCH', workspaceId, body });
}

/** Removes a provider, and ends the sessions that began there. @throws PlatformError */
export function deleteSsoProvider(workspaceId: string, id: string): Promise<SsoSettings> {
  return ask<SsoSettings>(at`${SETTINGS}/${id}`, { method: 'DELETE', workspaceId });
}

/** Has the platform ask a provider for all that sign-in needs. @throws PlatformError */
export function testSsoProvider(workspaceId: string, id: string): Promise<SsoTestResult> {
  return ask<SsoTestResult>(at`${SETTINGS}/${id}/test`, { method: 'POST', workspaceId });
}

/** Lets sessions of single sign-on in alone, or all. @throws PlatformError */
export function setSsoOnly(workspaceId: string, ssoOnly: boolean): Promise<OrganizationInfo> {
  const body = { sso_only: ssoOnly };
  return ask<OrganizationInfo>(at`/api/v1/orgs/current/login-methods`, { method: 'PATCH', workspaceId, body });
}

/** @throws PlatformError */
export function updateOrganization(workspaceId: string, body: OrganizationUpdate): Promise<OrganizationInfo> {
  return ask<OrganizationInfo>(at`/api/v1/orgs/current/info`, { method: 'PATCH', workspaceId, body });
}

/** Makes this the organization into which sign-in provisions people. @throws PlatformError */
export function setDefaultSsoProvision(workspaceId: string): Promise<OrganizationInfo> {
  return ask<OrganizationInfo>(at`/api/v1/orgs/current/set-default-sso-provision`, { method: 'POST', workspaceId });
}
