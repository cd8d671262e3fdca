import { randomUUID } from 'node:crypto';
import type { AccessTokenAnswer, IssuedApiKey, IssuedScimToken, Role, Workspace } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { insertKey, insertOrganization, insertPerson, insertSession, makeKeyText, type Place } from './people.ts';
import {
  CUSTOM_ROLES,
  type Need,
  ROLE_PERMISSIONS,
  ROLE_POLICIES,
  type RoleName,
  type TaggedResource,
  TOKEN_MAKER,
} from './permissions.ts';
import { findDatabaseUrl } from './platform-database.ts';
import { type RoleIds, tagForPolicies, writePolicies } from './policies.ts';

export interface PlatformUnderTest {
  url: string;
  /** The key of an administrator of the default organization. */
  apiKey: string;
  deploymentUrl: string;
  dataDir: string;
}

type Headers = Record<string, string>;

/** A credential of the organization that owns the requested resources. */
export interface Member {
  name: string;
  /** The forms in which it sends its credential: requests take turns. */
  headers: readonly [Headers, ...Headers[]];
  roles: readonly RoleName[];
  isReadOnly: boolean;
  isSession: boolean;
  identityId: string;
  /** The id of a service key. */
  keyId?: string;
}

export interface Callers {
  /** Headers without a valid credential, by what is wrong with them. */
  invalid: Record<string, Headers>;
  /** Good credentials in the workspace that has the resources. */
  members: Member[];
  /** Headers of people who signed in, one for each operation about the person: some end the session. */
  visitors: Headers[];
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
type Roles = readonly [RoleName, RoleName?];
interface NewMember {
  name: string;
  roles: Roles;
  credential: Credential;
  isReadOnly?: boolean;
}

const ROLES: Record<string, Roles> = {
  'an administrator of the organization': ['ORGANIZATION_ADMIN'],
  'an operator of the organization': ['ORGANIZATION_OPERATOR', 'WORKSPACE_VIEWER'],
  'a user of the organization': ['ORGANIZATION_USER', 'WORKSPACE_VIEWER'],
  'an administrator of the workspace': ['ORGANIZATION_VIEWER', 'WORKSPACE_ADMIN'],
  'an editor of the workspace': ['ORGANIZATION_VIEWER', 'WORKSPACE_EDITOR'],
  'a user of the workspace': ['ORGANIZATION_VIEWER', 'WORKSPACE_USER'],
  'a viewer of the workspace': ['ORGANIZATION_VIEWER', 'WORKSPACE_VIEWER'],
};
/** Holders of the other roles have keys. */
const WITH_PERSONAL_TOKENS = ['an operator of the organization', 'a user of the organization'];

/** Each role with a key or a personal token, and with a session. */
const MEMBERS: readonly NewMember[] = [
  ...Object.entries(ROLES).flatMap(([name, roles]): NewMember[] => {
    const credential = WITH_PERSONAL_TOKENS.includes(name) ? 'personal token' : 'key';
    return [
      { name: `the ${credential} of ${name}`, roles, credential },
      { name: `the session of ${name}`, roles, credential: 'session' },
    ];
  }),
  { name: 'somebody with a custom role', roles: ['ORGANIZATION_VIEWER', 'ACCESS_MATRIX'], credential: 'session' },
  {
    name: 'somebody whom policies deny',
    roles: ['ORGANIZATION_VIEWER', 'ACCESS_MATRIX_DENIED'],
    credential: 'key',
  },
  {
    name: 'somebody whom policies allow',
    roles: ['ORGANIZATION_VIEWER', 'ACCESS_MATRIX_ALLOWED'],
    credential: 'personal token',
  },
  { name: 'a read-only key', roles: ['ORGANIZATION_ADMIN'], credential: 'key', isReadOnly: true },
];
/** The names of the members that `makeCallers` creates, in their order. */
export const MEMBER_NAMES = MEMBERS.map(({ name }) => name);
export const SESSION_COUNT = MEMBERS.filter(({ credential }) => credential === 'session').length;

/**
 * Returns whether the tables permit a member what `need` requires.
 *
 * @param resource the kind of the tagged resource that a request is about; undefined: of none, so that roles decide
 */
export function isAllowed(need: Need, { roles, isReadOnly, isSession }: Member, resource?: TaggedResource): boolean {
  if (typeof need === 'object' || need === 'any key') return true;
  if (isPersonal(need) && !isSession) return false;
  if (need === 'signed-in person') return true;
  if (need === 'any key that writes') return !isReadOnly;
  if (need === 'organization administrator') return roles.includes('ORGANIZATION_ADMIN') && !isReadOnly;
  // Administrators of an organization administer each of its workspaces.
  const held = roles.includes('ORGANIZATION_ADMIN') ? [...roles, 'WORKSPACE_ADMIN' as const] : roles;
  const permission = need === TOKEN_MAKER ? 'organization:pats:create' : need;
  const isHeld = held.some((role) => (ROLE_PERMISSIONS[role] as readonly string[]).includes(permission));
  const effect =
    resource && roles.map((role) => ROLE_POLICIES[role]).find((own) => own?.[resource].includes(permission));
  const isPermitted = effect ? effect.effect === 'allow' : isHeld;
  return isPermitted && (!isReadOnly || need.endsWith(':read'));
}

/** Returns whether policies concern a member. */
export function isBoundByPolicies({ roles }: Member): boolean {
  return roles.some((role) => ROLE_POLICIES[role] !== undefined);
}

/** Returns whether an operation is about a person who signed in. */
export function isPersonal(need: Need): boolean {
  return need === 'signed-in person' || need === TOKEN_MAKER;
}

/**
 * Creates all credentials, in three organizations. Resolves when the revoked and the expired key are refused.
 *
 * @param visitors the number of people who sign in besides
 */
export async function makeCallers(
  platform: PlatformUnderTest & { deploymentId: string },
  visitors: number,
): Promise<Callers> {
  const ask = createAdministratorClient(platform);
  const issue = (body: object) => ask<IssuedApiKey>('POST', '/api/v1/orgs/current/service-keys', body);
  const [workspaces, other] = await Promise.all([
    ask<Workspace[]>('GET', '/api/v1/workspaces'),
    ask<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Neighbours' }),
  ]);
  const { id: workspaceId, organization_id: organizationId } = workspaces[0]!;
  const place = { organizationId, workspaceId };
  return withDatabaseClient(await findDatabaseUrl(platform.dataDir, 'org_access'), async (client) => {
    const customRoles = await insertCustomRoles(client, organizationId);
    await writePolicies(ask, customRoles);
    await tagForPolicies(ask, { deployment: [platform.deploymentId], workspace: [workspaceId] });
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
    const visiting: Headers[] = [];
    while (visiting.length < visitors) {
      const visitor = await insertPerson(client, place, { roles: ['ORGANIZATION_USER', 'WORKSPACE_VIEWER'] });
      visiting.push(await insertSession(client, place, { personId: visitor.personId, url: platform.url }));
    }
    const withKey = (key: string) => ({ 'x-api-key': key });
    const { url } = platform;
    const { personId } = signedOut;
    const scimToken = await ask<IssuedScimToken>('POST', '/v1/platform/orgs/current/scim/tokens', {
      description: 'an identity provider',
    });
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
        'a token that only the code of a project knows': { authorization: 'Bearer ada' },
        'the token of an identity provider': { authorization: `Bearer ${scimToken.token}` },
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
  { name, roles, credential, isReadOnly = false }: NewMember,
): Promise<Member> {
  const { workspaceId } = place;
  const isSession = credential === 'session';
  const member = { name, roles: roles.filter((role) => role !== undefined), isReadOnly, isSession };
  if (credential !== 'key') {
    const { personId, identityId } = await insertPerson(client, place, member);
    if (!isSession) {
      const key = await insertKey(client, place, { identityId, kind: 'personal_token' });
      return { ...member, identityId, headers: [{ 'x-api-key': key }] };
    }
    const cookie = await insertSession(client, place, { personId, url: platform.url });
    return { ...member, identityId, headers: [cookie, await exchangeForAccessToken(platform, cookie)] };
  }
  const [organizationRole, workspaceRole] = roles.map(
    (role) => allRoles.find((each) => each.name === role || each.display_name === role)?.id,
  );
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
  return { ...member, identityId: rows[0]!.identity_id!, keyId: id, headers: [{ 'x-api-key': key }] };
}

/** Returns the headers that a program sends with an access token of the session, in the same organization. */
export async function exchangeForAccessToken({ url }: PlatformUnderTest, session: Headers): Promise<Headers> {
  const response = await fetch(`${url}/api/v1/sessions/current/access-token`, { method: 'POST', headers: session });
  if (!response.ok) throw new Error(`no access token: ${response.status} ${await response.text()}`);
  const { cookie: _cookie, origin: _origin, ...place } = session;
  const { access_token } = (await response.json()) as AccessTokenAnswer;
  return { ...place, authorization: `Bearer ${access_token}` };
}

async function insertCustomRoles(client: Parameters<typeof insertPerson>[0], organizationId: string): Promise<RoleIds> {
  const made: RoleIds = {};
  for (const [index, name] of CUSTOM_ROLES.entries()) {
    const id = randomUUID();
    await client.query(
      `INSERT INTO role (id, organization_id, access_scope, name, display_name, description, position, permissions)
       VALUES ($1, $2, 'workspace', $3, $3, '', $4, $5)`,
      [id, organizationId, name, 100 + index, ROLE_PERMISSIONS[name]],
    );
    made[name] = id;
  }
  return made;
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
  await waitFor(async () => (await status()) === 401, { what: 'the refusal of a key' });
}
