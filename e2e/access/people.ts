import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { RoleName } from './permissions.ts';

/** The part of a client of Postgres that the tables below need. */
interface DatabaseClient {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, string>[] }>;
}

export interface Place {
  organizationId: string;
  workspaceId: string;
}

/** Returns a key of the right form: prefix, random bits, checksum. */
export function makeKeyText(prefix: 'lsv2_sk_' | 'lsv2_pt_' = 'lsv2_sk_'): string {
  const body = prefix + randomBytes(24).toString('hex');
  const checksum = createHash('sha256').update('runyard key checksum').update(body).digest('hex').slice(0, 10);
  return `${body}_${checksum}`;
}

/**
 * Writes a member into the database, with roles that are granted by hand. Nobody can sign in here: the installation has
 * no identity provider.
 */
export async function insertPerson(
  client: DatabaseClient,
  { organizationId, workspaceId }: Place,
  {
    roles: [organizationRole, workspaceRole],
    isDisabled = false,
  }: { roles: readonly RoleName[]; isDisabled?: boolean },
): Promise<{ personId: string; identityId: string }> {
  const [personId, identityId] = [randomUUID(), randomUUID()];
  await client.query('INSERT INTO person (id, email, full_name) VALUES ($1, $2, $3)', [
    personId,
    `${personId}@example.com`,
    'Somebody',
  ]);
  await client.query(
    `INSERT INTO identity (id, organization_id, kind, person_id, name, organization_role_id, disabled_at, is_accepted)
     SELECT $1, $2, 'person', $3, 'Somebody', id, CASE WHEN $5 THEN now() END, true FROM role WHERE name = $4`,
    [identityId, organizationId, personId, organizationRole, isDisabled],
  );
  const places = [[null, organizationRole], ...(workspaceRole ? [[workspaceId, workspaceRole]] : [])];
  for (const [place, role] of places) {
    await client.query(
      `INSERT INTO role_grant (id, organization_id, identity_id, workspace_id, role_id, source)
       SELECT $1, $2, $3, $4, id, 'manual' FROM role WHERE name = $5`,
      [randomUUID(), organizationId, identityId, place, role],
    );
  }
  if (workspaceRole)
    await client.query(
      `INSERT INTO member (organization_id, workspace_id, identity_id, role_id)
       SELECT $1, $2, $3, id FROM role WHERE name = $4`,
      [organizationId, workspaceId, identityId, workspaceRole],
    );
  return { personId, identityId };
}

/** Writes a key or a personal token of an identity into the database. */
export async function insertKey(
  client: DatabaseClient,
  { organizationId, workspaceId }: Place,
  { identityId, kind }: { identityId: string; kind: 'service_key' | 'personal_token' },
): Promise<string> {
  const key = makeKeyText(kind === 'service_key' ? 'lsv2_sk_' : 'lsv2_pt_');
  await client.query(
    `INSERT INTO api_key (id, organization_id, identity_id, kind, key_sha256, short_key, description, default_workspace_id)
     VALUES ($1, $2, $3, $4, $5, 'lsv2_…', 'Access matrix', $6)`,
    [randomUUID(), organizationId, identityId, kind, createHash('sha256').update(key).digest(), workspaceId],
  );
  return key;
}

/** Writes a session into the database. @returns the headers that a page of the platform sends with it */
export async function insertSession(
  client: DatabaseClient,
  { organizationId, workspaceId }: Place,
  { personId, url, hasEnded = false }: { personId: string; url: string; hasEnded?: boolean },
): Promise<Record<string, string>> {
  const token = `rys_${randomBytes(32).toString('base64url')}`;
  await client.query(
    `INSERT INTO session (id, person_id, token_sha256, expires_at, ended_at)
     VALUES ($1, $2, $3, now() + interval '1 hour', CASE WHEN $4 THEN now() END)`,
    [randomUUID(), personId, createHash('sha256').update(token).digest(), hasEnded],
  );
  return {
    // The platform under test is plain HTTP on this machine.
    cookie: `runyard_session=${token}`,
    origin: new URL(url).origin,
    'x-organization-id': organizationId,
    'x-tenant-id': workspaceId,
  };
}

/** Writes an organization with a workspace and the key of its administrator into the database. */
export async function insertOrganization(
  client: DatabaseClient,
  { ipAllowlist }: { ipAllowlist?: readonly string[] } = {},
): Promise<Place & { key: string }> {
  const [organizationId, workspaceId, identityId] = [randomUUID(), randomUUID(), randomUUID()];
  await client.query(
    'INSERT INTO organization (id, display_name, ip_allowlist, ip_allowlist_enabled) VALUES ($1, $2, $3, $4)',
    [organizationId, 'Foreign', ipAllowlist ?? [], ipAllowlist !== undefined],
  );
  await client.query("INSERT INTO workspace (id, organization_id, display_name) VALUES ($1, $2, 'Foreign')", [
    workspaceId,
    organizationId,
  ]);
  await client.query(
    `INSERT INTO identity (id, organization_id, kind, name, organization_role_id)
     SELECT $1, $2, 'service_account', 'Foreign', id FROM role WHERE name = 'ORGANIZATION_ADMIN'`,
    [identityId, organizationId],
  );
  const place = { organizationId, workspaceId };
  return { ...place, key: await insertKey(client, place, { identityId, kind: 'service_key' }) };
}
