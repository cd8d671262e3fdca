import { randomUUID } from 'node:crypto';
import type { IssuedApiKey, Role, Workspace } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { insertKey, insertOrganization, insertPerson, insertSession, makeKeyText, type Place } from './people.ts';
import { type Need, ROLE_PERMISSIONS, type RoleName } from './permissions.ts';
import { findDatabaseUrl } from './platform-database.ts';

export interface PlatformUnderTest {
  url: string;
  /** The key of an administrator of the default organization. */
  apiKey: string;
  deploymentUrl: string;
  dataDir: string;
}

/** A credential of the organization that owns the requested resources. */
export interface Member {
  name: string;
  headers: Record<string, string>;
  roles: readonly RoleName[];
  isReadOnly: boolean;
  isSession: boolean;
  identityId: string;
  /** The id of a service key. */
  keyId?: string;
}

export interface Callers {
  /** Headers without a valid credential, by what is wrong with them. */
  invalid: Record<string, Record<string, string>>;
  /** Good credentials in the workspace that has the resources. */
  members: Member[];
  /** Headers of people who signed in, one for each operation about the person: some end the session. */
  visitors: Record<string, string>[];
  /** The key of an administrator of another workspace of the same organization, without rights in this one. */
  otherWorkspaceKey: string;
  /** The key of an administrator of another organization. */
  otherOrganizationKey: string;
  /** The key of an organization that is not used from this machine's address. */
  outsideKey: string;
  organizationId: string;
  workspaceId: string;
  /** Ids of the other organization and its workspace. */
  foreign: { organizationId: string; workspaceId: string };
}

type Credential = 'key' | 'personal token' | 'session';

/** Each role with one kind of credential, and each kind of credential with some role. */
const MEMBERS: { name: string; roles: [RoleName, RoleName?]; credential?: Credential; isReadOnly?: boolean }[] = [
  { name: 'an administrator of the organization', roles: ['ORGANIZATION_ADMIN'] },
  {
    name: 'the token of an operator of the organization',
    roles: ['ORGANIZATION_OPERATOR', 'WORKSPACE_VIEWER'],
    credential: 'personal token',
  },
  {
    name: 'the token of a user of the organization',
    roles: ['ORGANIZATION_USER', 'WORKSPACE_VIEWER'],
    credential: 'personal token',
  },
  { name: 'an administrator of the workspace', roles: ['ORGANIZATION_VIEWER', 'WORKSPACE_ADMIN'] },
  {
    name: 'an editor of the workspace who signed in',
    roles: ['ORGANIZATION_VIEWER', 'WORKSPACE_EDITOR'],
    credential: 'session',
  },
  { name: 'a user of the workspace', roles: ['ORGANIZATION_VIEWER', 'WORKSPACE_USER'] },
  { name: 'a viewer of the workspace', roles: ['ORGANIZATION_VIEWER', 'WORKSPACE_VIEWER'] },
  { name: 'a key with a custom role', roles: ['ORGANIZATION_VIEWER', 'ACCESS_MATRIX'] },
  { name: 'a read-only key of an administrator', roles: ['ORGANIZATION_ADMIN'], isReadOnly: true },
];

/** Returns whether the tables permit a member what `need` requires. */
export function isAllowed(need: Need, { roles, isReadOnly, isSession }: Omit<Member, 'headers'>): boolean {
  if (typeof need === 'object' || need === 'any key') return true;
  if (need === 'signed-in person') return isSession;
  if (need === 'any key that writes') return !isReadOnly;
  if (need === 'organization administrator') return roles.includes('ORGANIZATION_ADMIN') && !isReadOnly;
  // Administrators of an organization administer each of its workspaces.
  const held = roles.includes('ORGANIZATION_ADMIN') ? [...roles, 'WORKSPACE_ADMIN' as const] : roles;
  const isHeld = held.some((role) => (ROLE_PERMISSIONS[role] as readonly string[]).includes(need));
  return isHeld && (!isReadOnly || need.endsWith(':read'));
}

/**
 * Creates all credentials, in three organizations. Resolves when the revoked and the expired key are refused.
 *
 * @param visitors the number of people who sign in besides
 */
export async function makeCallers(platform: PlatformUnderTest, visitors: number): Promise<Callers> {
  const ask = createAdministratorClient(platform);
  const issue = (body: object) => ask<IssuedApiKey>('POST', '/api/v1/orgs/current/service-keys', body);
  const [workspaces, other] = await Promise.all([
    ask<Workspace[]>('GET', '/api/v1/workspaces'),
    ask<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Neighbours' }),
  ]);
  const { id: workspaceId, organization_id: organizationId } = workspaces[0]!;
  const place = { organizationId, workspaceId };
  return withDatabaseClient(await findDatabaseUrl(platform.dataDir, 'org_access'), async (client) => {
    await insertCustomRole(client, organizationId);
    const roles = await ask<Role[]>('GET', '/api/v1/orgs/current/roles');
    const members: Member[] = [];
    for (const member of MEMBERS) members.push(await makeMember(platform, client, place, roles, member));
    const [otherWorkspaceKey, revoked, expired] = await Promise.all([
      issue({
        description: 'an administrator of another workspace',
        role_id: roles.find(({ name }) => name === 'WORKSPACE_ADMIN')!.id,
        workspaces: [other.id],
      }),
      issue({ description: 'revoked' }),
      issue({ description: 'expired', expires_at: new Date(Date.now() + 1_000).toISOString() }),
    ]);
    await ask('DELETE', `/api/v1/orgs/current/service-keys/${revoked.id}`);
    await Promise.all([revoked.key, expired.key].map((key) => waitUntilRefused(platform, key)));
    const disabled = await insertPerson(client, place, { roles: ['ORGANIZATION_ADMIN'], isDisabled: true });
    const signedOut = await insertPerson(client, place, { roles: ['ORGANIZATION_ADMIN'] });
    const { key: otherOrganizationKey, ...foreign } = await insertOrganization(client);
    const outside = await insertOrganization(client, { ipAllowlist: ['203.0.113.0/24'] });
    const visiting: Record<string, string>[] = [];
    while (visiting.length < visitors) {
      const visitor = await insertPerson(client, place, { roles: ['ORGANIZATION_USER', 'WORKSPACE_VIEWER'] });
      visiting.push(await insertSession(client, place, { personId: visitor.personId, url: platform.url }));
    }
    const withKey = (key: string) => ({ 'x-api-key': key });
    const { url } = platform;
    const { personId } = signedOut;
    return {
      invalid: {
        'no credential': {},
        'a malformed key': withKey('lsv2_sk_malformed'),
        'a key that was never issued': withKey(makeKeyText()),
        'a revoked key': withKey(revoked.key),
        'an expired key': withKey(expired.key),
        'the token of a disabled person': withKey(
          await insertKey(client, place, { identityId: disabled.identityId, kind: 'personal_token' }),
        ),
        'an ended session': await insertSession(client, place, { personId, url, hasEnded: true }),
      },
      members,
      visitors: visiting,
      otherWorkspaceKey: otherWorkspaceKey.key,
      otherOrganizationKey,
      outsideKey: outside.key,
      ...place,
      foreign,
    };
  });
}

/** Makes the credential of a member: keys through the API, and people in the database, because nobody can sign in. */
async function makeMember(
  platform: PlatformUnderTest,
  client: Parameters<typeof insertPerson>[0],
  place: Place,
  allRoles: readonly Role[],
  { name, roles, credential = 'key', isReadOnly = false }: (typeof MEMBERS)[number],
): Promise<Member> {
  const { workspaceId } = place;
  const member = { name, roles: roles.filter((role) => role !== undefined), isReadOnly, isSession: false };
  if (credential !== 'key') {
    const { personId, identityId } = await insertPerson(client, place, member);
    const headers =
      credential === 'session'
        ? await insertSession(client, place, { personId, url: platform.url })
        : { 'x-api-key': await insertKey(client, place, { identityId, kind: 'personal_token' }) };
    return { ...member, isSession: credential === 'session', identityId, headers };
  }
  const [organizationRole, workspaceRole] = roles.map((role) => allRoles.find((each) => each.name === role)?.id);
  const body = {
    description: name,
    org_role_id: organizationRole,
    read_only: isReadOnly,
    default_workspace_id: workspaceId,
    ...(workspaceRole && { role_id: workspaceRole, workspaces: [workspaceId] }),
  };
  const path = '/api/v1/orgs/current/service-keys';
  const { id, key } = await createAdministratorClient(platform)<IssuedApiKey>('POST', path, body);
  const { rows } = await client.query('SELECT identity_id FROM api_key WHERE id = $1', [id]);
  return { ...member, identityId: rows[0]!.identity_id!, keyId: id, headers: { 'x-api-key': key } };
}

async function insertCustomRole(client: Parameters<typeof insertPerson>[0], organizationId: string): Promise<void> {
  await client.query(
    `INSERT INTO role (id, organization_id, access_scope, name, display_name, description, position, permissions)
     VALUES ($1, $2, 'workspace', 'ACCESS_MATRIX', 'Access matrix', '', 100, $3)`,
    [randomUUID(), organizationId, ROLE_PERMISSIONS.ACCESS_MATRIX],
  );
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

async function waitUntilRefused({ url }: PlatformUnderTest, key: string): Promise<void> {
  const status = async () => (await fetch(`${url}/api/v1/workspaces`, { headers: { 'x-api-key': key } })).status;
  await waitFor(async () => (await status()) === 401, { what: 'the refusal of a key', timeoutMs: 10_000 });
}
