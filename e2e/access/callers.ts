import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { IssuedApiKey, Role, Workspace } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { type Need, ROLE_PERMISSIONS, type RoleName } from './permissions.ts';
import { findDatabaseUrl } from './platform-database.ts';

export interface PlatformUnderTest {
  url: string;
  /** The key of an administrator of the default organization. */
  apiKey: string;
  deploymentUrl: string;
  dataDir: string;
}

/** A good key of the organization that owns the requested resources. */
export interface Member {
  name: string;
  key: string;
  roles: readonly RoleName[];
  isReadOnly: boolean;
}

export interface Callers {
  /** Invalid keys, by what is wrong with them. */
  invalidKeys: Record<string, string | undefined>;
  /** Good keys in the workspace that has the resources. */
  members: Member[];
  /** The key of an administrator of another workspace of the same organization, without rights in this one. */
  otherWorkspaceKey: string;
  /** The key of an administrator of another organization. */
  otherOrganizationKey: string;
  workspaceId: string;
  /** Ids of the other organization and its workspace. */
  foreign: { organizationId: string; workspaceId: string };
}

const MEMBERS: (Omit<Member, 'key'> & { roles: [RoleName, RoleName?] })[] = [
  { name: 'an administrator of the organization', roles: ['ORGANIZATION_ADMIN'], isReadOnly: false },
  { name: 'a user of the organization', roles: ['ORGANIZATION_USER', 'WORKSPACE_VIEWER'], isReadOnly: false },
  { name: 'an administrator of the workspace', roles: ['ORGANIZATION_VIEWER', 'WORKSPACE_ADMIN'], isReadOnly: false },
  { name: 'an editor of the workspace', roles: ['ORGANIZATION_VIEWER', 'WORKSPACE_EDITOR'], isReadOnly: false },
  { name: 'a user of the workspace', roles: ['ORGANIZATION_VIEWER', 'WORKSPACE_USER'], isReadOnly: false },
  { name: 'a viewer of the workspace', roles: ['ORGANIZATION_VIEWER', 'WORKSPACE_VIEWER'], isReadOnly: false },
  { name: 'a read-only key of an administrator', roles: ['ORGANIZATION_ADMIN'], isReadOnly: true },
];

/** Returns whether the tables permit a member what `need` requires. */
export function isAllowed(need: Need, { roles, isReadOnly }: Member): boolean {
  if (typeof need === 'object' || need === 'any key') return true;
  if (need === 'signed-in person') return false;
  if (need === 'any key that writes') return !isReadOnly;
  // Administrators of an organization administer each of its workspaces.
  const held = roles.includes('ORGANIZATION_ADMIN') ? [...roles, 'WORKSPACE_ADMIN' as const] : roles;
  const isHeld = held.some((role) => (ROLE_PERMISSIONS[role] as readonly string[]).includes(need));
  return isHeld && (!isReadOnly || need.endsWith(':read'));
}

/** Creates all keys, in two organizations. Resolves when the revoked and the expired one are refused. */
export async function makeCallers(platform: PlatformUnderTest): Promise<Callers> {
  const ask = createAdministratorClient(platform);
  const [roles, workspaces, other] = await Promise.all([
    ask<Role[]>('GET', '/api/v1/orgs/current/roles'),
    ask<Workspace[]>('GET', '/api/v1/workspaces'),
    ask<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Neighbours' }),
  ]);
  const workspaceId = workspaces[0]!.id;
  const roleId = (name?: RoleName) => roles.find((role) => role.name === name)?.id ?? null;
  const issue = (body: object) => ask<IssuedApiKey>('POST', '/api/v1/orgs/current/service-keys', body);
  const memberKey = async ({ name, roles: [organizationRole, workspaceRole], isReadOnly }: (typeof MEMBERS)[number]) =>
    issue({
      description: name,
      org_role_id: roleId(organizationRole),
      read_only: isReadOnly,
      default_workspace_id: workspaceId,
      ...(workspaceRole && { role_id: roleId(workspaceRole), workspaces: [workspaceId] }),
    });
  const [members, otherWorkspaceKey, revoked, expired, foreign] = await Promise.all([
    Promise.all(MEMBERS.map(async (member) => ({ ...member, key: (await memberKey(member)).key }) as Member)),
    issue({
      description: 'an administrator of another workspace',
      role_id: roleId('WORKSPACE_ADMIN'),
      workspaces: [other.id],
    }),
    issue({ description: 'revoked' }),
    issue({ description: 'expired', expires_at: new Date(Date.now() + 1_000).toISOString() }),
    makeForeignOrganization(platform.dataDir),
  ]);
  await ask('DELETE', `/api/v1/orgs/current/service-keys/${revoked.id}`);
  await Promise.all([revoked.key, expired.key].map((key) => waitUntilRefused(platform, key)));
  const invalidKeys = {
    'no key': undefined,
    'a malformed key': 'lsv2_sk_malformed',
    'a key that was never issued': makeKey(),
    'a revoked key': revoked.key,
    'an expired key': expired.key,
  };
  const { key: otherOrganizationKey, ...ids } = foreign;
  return {
    invalidKeys,
    members,
    otherWorkspaceKey: otherWorkspaceKey.key,
    otherOrganizationKey,
    workspaceId,
    foreign: ids,
  };
}

/**
 * Returns a function that sends requests as the administrator of the default organization. @throws when one is refused
 */
export function createAdministratorClient({ url, apiKey }: PlatformUnderTest) {
  return async <Answer>(method: string, target: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(target.startsWith('http') ? target : url + target, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${target} was answered ${response.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  };
}

/** Writes an organization into the database, because nobody can create one through the gateway. */
async function makeForeignOrganization(dataDir: string) {
  const [organizationId, workspaceId, identityId] = [randomUUID(), randomUUID(), randomUUID()];
  const key = makeKey();
  const digest = createHash('sha256').update(key).digest();
  await withDatabaseClient(await findDatabaseUrl(dataDir, 'org_access'), async (client) => {
    await client.query("INSERT INTO organization (id, display_name) VALUES ($1, 'Foreign')", [organizationId]);
    await client.query("INSERT INTO workspace (id, organization_id, display_name) VALUES ($1, $2, 'Foreign')", [
      workspaceId,
      organizationId,
    ]);
    await client.query(
      `INSERT INTO identity (id, organization_id, kind, name, organization_role_id)
       SELECT $1, $2, 'service_account', 'Foreign', id FROM role WHERE name = 'ORGANIZATION_ADMIN'`,
      [identityId, organizationId],
    );
    await client.query(
      `INSERT INTO api_key (id, organization_id, identity_id, kind, key_sha256, short_key, description, default_workspace_id)
       VALUES ($1, $2, $3, 'service_key', $4, 'lsv2_sk_…', 'Foreign', $5)`,
      [randomUUID(), organizationId, identityId, digest, workspaceId],
    );
  });
  return { organizationId, workspaceId, key };
}

/** Returns a key of the right form: prefix, random bits, checksum. */
function makeKey(): string {
  const body = `lsv2_sk_${randomBytes(24).toString('hex')}`;
  const checksum = createHash('sha256').update('runyard key checksum').update(body).digest('hex').slice(0, 10);
  return `${body}_${checksum}`;
}

async function waitUntilRefused({ url }: PlatformUnderTest, key: string): Promise<void> {
  const status = async () => (await fetch(`${url}/api/v1/workspaces`, { headers: { 'x-api-key': key } })).status;
  await waitFor(async () => (await status()) === 401, { what: 'the refusal of a key', timeoutMs: 10_000 });
}
