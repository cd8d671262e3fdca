/**
 * Everything about the caller's organization is served under two prefixes, because clients use both. `alias`
 * distinguishes the second operation's id from the first's.
 */
export const ORGANIZATION_PREFIXES = [
  { prefix: '/api/v1/orgs/current', alias: '' },
  { prefix: '/api/v1/organizations/current', alias: 'Alias' },
] as const;

/** The organizations of a person are served under both names too. */
export const ORGANIZATIONS_PATHS = [
  { path: '/api/v1/orgs', alias: '' },
  { path: '/api/v1/organizations', alias: 'Alias' },
] as const;

/** Newer operations are served under both: clients of self-hosted installations put `/api` in front. */
export const PLATFORM_PREFIXES = [
  { prefix: '/v1/platform/orgs/current', alias: '' },
  { prefix: '/api/v1/platform/orgs/current', alias: 'Alias' },
] as const;
