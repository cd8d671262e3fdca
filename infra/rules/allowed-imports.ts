/**
 * The packages from the bottom up: each may import those above it in this list, and no other. Tests may import
 * `test-kit` besides, which stands last since no product code imports it.
 */
export const PACKAGES_BOTTOM_UP = [
  'packages/contracts',
  'packages/audit-chain',
  'packages/deadline',
  'packages/encryption',
  'packages/package-managers',
  'packages/outbound',
  'packages/tracing',
  'packages/service-kit',
  'packages/database',
  'packages/leases',
  'packages/idempotency',
  'packages/event-bus',
  'packages/run-stream',
  'packages/run-engine',
  'packages/checkpointer',
  'packages/graph-host',
  'packages/cli',
  'packages/test-kit',
];

/**
 * Folders of a service that import each other in a circle, by service. A knot may shrink, never grow: a folder that has
 * left its knot has to leave this list.
 */
export const FOLDER_KNOTS: Record<string, string[]> = {
  'services/control-plane': [
    'builds',
    'data-plane',
    'deployments',
    'drivers',
    'listeners',
    'logs',
    'monitoring',
    'project-images',
    'reconciler',
    'registry',
    'revisions',
    'secrets',
    'sources',
  ],
};
