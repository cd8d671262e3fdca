import type {
  ApiKey,
  IssuedApiKey,
  PersonalTokenCreate,
  ServiceAccount,
  ServiceAccountCreate,
  ServiceKeyCreate,
  ServiceKeyRotation,
  ServiceKeyUpdate,
} from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';

const SERVICE_KEYS = at`/api/v1/orgs/current/service-keys`;
const TOKENS = at`/api/v1/orgs/current/personal-access-tokens`;
const ACCOUNTS = at`/api/v1/service-accounts`;

/** The service keys that the person may manage, the newest first. */
export function serviceKeysQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['keys', workspaceId, 'service'],
    queryFn: ({ signal }) => ask<ApiKey[]>(SERVICE_KEYS, { workspaceId, signal }),
  });
}

/** The person's own tokens in the organization, the newest first. */
export function personalTokensQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['keys', workspaceId, 'personal'],
    queryFn: ({ signal }) => ask<ApiKey[]>(TOKENS, { workspaceId, signal }),
  });
}

/** The service accounts that the person may manage, the newest first. */
export function serviceAccountsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['keys', workspaceId, 'accounts'],
    queryFn: ({ signal }) => ask<ServiceAccount[]>(ACCOUNTS, { workspaceId, signal }),
  });
}

/** Makes a key. The answer alone shows it; repeated with the same `requestKey` it is the same. @throws PlatformError */
export function createServiceKey(
  workspaceId: string,
  body: ServiceKeyCreate,
  requestKey: string,
): Promise<IssuedApiKey> {
  const headers = { 'idempotency-key': requestKey };
  return ask<IssuedApiKey>(SERVICE_KEYS, { method: 'POST', workspaceId, body, headers });
}

/** Makes a key in place of another, which ends a little later. @throws PlatformError */
export function rotateServiceKey(
  workspaceId: string,
  id: string,
  body: ServiceKeyRotation,
  requestKey: string,
): Promise<IssuedApiKey> {
  const headers = { 'idempotency-key': requestKey };
  return ask<IssuedApiKey>(at`${SERVICE_KEYS}/${id}/rotate`, { method: 'POST', workspaceId, body, headers });
}

/** Changes the roles of the account of a key, and so of all its keys. @throws PlatformError */
export function updateServiceKey(workspaceId: string, id: string, body: ServiceKeyUpdate): Promise<ApiKey> {
  return ask<ApiKey>(at`${SERVICE_KEYS}/${id}`, { method: 'PATCH', workspaceId, body });
}

/** Revokes a key for good. @throws PlatformError */
export function revokeServiceKey(workspaceId: string, id: string): Promise<ApiKey> {
  return ask<ApiKey>(at`${SERVICE_KEYS}/${id}`, { method: 'DELETE', workspaceId });
}

/** Makes a token of the person. The answer alone shows it. @throws PlatformError */
export function createPersonalToken(
  workspaceId: string,
  body: PersonalTokenCreate,
  requestKey: string,
): Promise<IssuedApiKey> {
  const headers = { 'idempotency-key': requestKey };
  return ask<IssuedApiKey>(TOKENS, { method: 'POST', workspaceId, body, headers });
}

/** @throws PlatformError */
export function revokePersonalToken(workspaceId: string, id: string): Promise<ApiKey> {
  return ask<ApiKey>(at`${TOKENS}/${id}`, { method: 'DELETE', workspaceId });
}

/** @throws PlatformError */
export function createServiceAccount(
  workspaceId: string,
  body: ServiceAccountCreate,
  requestKey: string,
): Promise<ServiceAccount> {
  const headers = { 'idempotency-key': requestKey };
  return ask<ServiceAccount>(ACCOUNTS, { method: 'POST', workspaceId, body, headers });
}

/** Deletes a service account, and revokes all its keys. @throws PlatformError */
export function deleteServiceAccount(workspaceId: string, id: string): Promise<ServiceAccount> {
  return ask<ServiceAccount>(at`${ACCOUNTS}/${id}`, { method: 'DELETE', workspaceId });
}
