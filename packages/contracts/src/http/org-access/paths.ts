/**
 * Everything about the caller's organization is served under two prefixes, because clients use both. `alias`
 * distinguishes the second operation's id from the first's.
 */
export const ORGANIZATION_PREFIXES = [
  { prefix: '/api/v1/orgs/current', alias: '' },
  { prefix: '/api/v1/organizations/current', alias: 'Alias' },
] as const;
