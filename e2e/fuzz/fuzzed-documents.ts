import type { IssuedScimToken } from '@runyard/contracts';
import { withDatabaseClient } from '@runyard/test-kit';
import { request } from 'undici';
import { createAdministratorClient, exchangeForAccessToken } from '../access/callers.ts';
import { insertPerson, insertSession } from '../access/people.ts';
import { findDatabaseUrl } from '../access/platform-database.ts';
import type { Platform } from '../harness/platform.ts';
import type { FuzzOptions } from './fuzz-document.ts';

/** A document, and who requests its operations. */
type FuzzTarget = Omit<FuzzOptions, 'seed'>;

/** The beginning of the paths of A2A, MCP and AG-UI. */
const OTHER_PROTOCOLS = '/(a2a|mcp|agui|\\.well-known)(/|$)';
const SCIM = '^/scim/v2/';
/** Operations that end the session with which they are requested, or replace its token. */
const ENDS_SESSION = [
  ...['signOut', 'signOutAtProvider', 'signOutByForm', 'endSsoSession'],
  ...['endSession', 'endSessions', 'endSessionByForm', 'refreshSession'],
];

const byKey = ({ apiKey }: Platform) => ({ 'x-api-key': apiKey });
const agentServer = (platform: Platform) =>
  ({ document: 'agent-server', url: platform.deploymentUrl, headers: byKey(platform) }) as const;
const orgAccess = ({ url }: Platform) => ({ document: 'org-access', url }) as const;

/** Prepares a target on a platform on which nothing has happened. */
export type PrepareTarget = (platform: Platform) => Promise<FuzzTarget>;

/** By the names of the targets. */
export const FUZZ_TARGETS: Record<string, PrepareTarget> = {
  'agent-server': async (platform) => ({ ...agentServer(platform), paths: `^(?!${OTHER_PROTOCOLS})` }),
  'agent-server by other protocols': async (platform) => ({ ...agentServer(platform), paths: `^${OTHER_PROTOCOLS}` }),
  'oauth-broker': async (platform) => ({ document: 'oauth-broker', url: platform.url, headers: byKey(platform) }),
  'run-history': async (platform) => ({ document: 'run-history', url: platform.url, headers: byKey(platform) }),
  'control-plane': async (platform) => ({ document: 'control-plane', url: platform.url, headers: byKey(platform) }),
  'org-access': async (platform) => ({ ...orgAccess(platform), headers: byKey(platform) }),
  'org-access by an identity provider': async (platform) => {
    const { token } = await createAdministratorClient(platform)<IssuedScimToken>(
      'POST',
      '/v1/platform/orgs/current/scim/tokens',
      { description: 'an identity provider' },
    );
    return { ...orgAccess(platform), headers: { authorization: `Bearer ${token}` }, paths: SCIM };
  },
  // A person requests the operations of keys and of identity providers too.
  'org-access by a session': async (platform) => ({
    ...orgAccess(platform),
    ...(await signIn(platform)),
    without: ENDS_SESSION,
  }),
  'org-access by an access token': async (platform) => {
    const session = await signIn(platform);
    const headers = await exchangeForAccessToken(platform, session.headers);
    return { ...orgAccess(platform), headers, without: ENDS_SESSION };
  },
};

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
