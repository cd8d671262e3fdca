import type { IssuedScimToken } from '@runyard/contracts';
import { withDatabaseClient } from '@runyard/test-kit';
import { request } from 'undici';
import { createAdministratorClient, exchangeForAccessToken } from '../access/callers.ts';
import { insertPerson, insertSession } from '../access/people.ts';
import { findDatabaseUrl } from '../access/platform-database.ts';
import type { Platform } from '../harness/platform.ts';
import type { FuzzOptions } from './fuzz-document.ts';

/** A document, and who requests its operations. */
export type FuzzTarget = Omit<FuzzOptions, 'seed'> & { name: FuzzTargetName };

/** In this order: the deployment comes first, because the control plane's document deletes it. */
export const FUZZ_TARGETS = [
  'agent-server',
  'agent-server by other protocols',
  'oauth-broker',
  'control-plane',
  'org-access',
  'org-access by an identity provider',
  'org-access by a session',
  'org-access by an access token',
] as const;
export type FuzzTargetName = (typeof FUZZ_TARGETS)[number];

/** The beginning of the paths of A2A, MCP and AG-UI. */
const OTHER_PROTOCOLS = '/(a2a|mcp|agui|\\.well-known)(/|$)';
const SCIM = '^/scim/v2/';
/** Operations that end the session with which they are requested, or replace its token. */
const ENDS_SESSION = [
  ...['signOut', 'signOutAtProvider', 'signOutByForm', 'endSsoSession'],
  ...['endSession', 'endSessions', 'endSessionByForm', 'refreshSession'],
];

/** Returns each public document, the URL that serves it, and the headers with which it is requested. */
export async function listFuzzTargets(platform: Platform): Promise<Record<FuzzTargetName, FuzzTarget>> {
  const { url, deploymentUrl } = platform;
  const key = { 'x-api-key': platform.apiKey };
  const scimToken = await createAdministratorClient(platform)<IssuedScimToken>(
    'POST',
    '/v1/platform/orgs/current/scim/tokens',
    { description: 'an identity provider' },
  );
  const session = await signIn(platform);
  const agentServer = { document: 'agent-server', url: deploymentUrl, headers: key } as const;
  const orgAccess = { document: 'org-access', url } as const;
  // Every caller requests the operations of the others too.
  const bySession = { ...orgAccess, without: ENDS_SESSION };
  const targets: FuzzTarget[] = [
    { ...agentServer, name: 'agent-server', paths: `^(?!${OTHER_PROTOCOLS})` },
    { ...agentServer, name: 'agent-server by other protocols', paths: `^${OTHER_PROTOCOLS}` },
    { name: 'oauth-broker', document: 'oauth-broker', url, headers: key },
    { name: 'control-plane', document: 'control-plane', url, headers: key },
    { ...orgAccess, name: 'org-access', headers: key },
    {
      ...orgAccess,
      name: 'org-access by an identity provider',
      headers: { authorization: `Bearer ${scimToken.token}` },
      paths: SCIM,
    },
    { ...bySession, ...session, name: 'org-access by a session' },
    {
      ...bySession,
      name: 'org-access by an access token',
      headers: await exchangeForAccessToken(platform, session.headers),
    },
  ];
  return Object.fromEntries(targets.map((target) => [target.name, target])) as Record<FuzzTargetName, FuzzTarget>;
}

/** Signs an administrator in. @returns the headers of a page, and the token in its forms */
async function signIn(platform: Platform): Promise<{ headers: Record<string, string>; csrfToken: string }> {
  const [workspace] = await createAdministratorClient(platform)<{ id: string; organization_id: string }[]>(
    'GET',
    '/api/v1/workspaces',
  );
  const place = { organizationId: workspace!.organization_id, workspaceId: workspace!.id };
  const { url } = platform;
  const headers = await withDatabaseClient(await findDatabaseUrl(platform.dataDir, 'org_access'), async (client) => {
    const { personId } = await insertPerson(client, place, { roles: ['ORGANIZATION_ADMIN'] });
    return insertSession(client, place, { personId, url });
  });
  // `fetch` says of itself that it is no person who opens a page.
  const page = await (await request(`${url}/auth/account`, { headers })).body.text();
  const csrfToken = /name="csrf" value="([^"]+)"/.exec(page)?.[1];
  if (csrfToken === undefined) throw new Error(`no form on the page\n${page}`);
  return { headers, csrfToken };
}
