/** The places of a workspace, in the order of the menu. `key` after `g` leads there. */
export const PLACES = [
  { to: '/w/$workspaceId', label: 'Chat', sign: '◆', key: 'c' },
  { to: '/w/$workspaceId/runs', label: 'Runs', sign: '▶', key: 'r' },
  { to: '/w/$workspaceId/inbox', label: 'Inbox', sign: '✉', key: 'i' },
  { to: '/w/$workspaceId/deployments', label: 'Deployments', sign: '▤', key: 'd' },
  { to: '/w/$workspaceId/usage', label: 'Usage', sign: '∑', key: 'u' },
  { to: '/w/$workspaceId/organization', label: 'Organization', sign: '◎', key: 'o' },
] as const;
