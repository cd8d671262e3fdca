import type { FolderKnots } from './folder-knots.ts';

/**
 * The packages from the bottom up: each may import those above it in this list, and no other. Tests may import
 * `test-kit` besides, which stands last since no product code imports it.
 */
export const PACKAGES_BOTTOM_UP = [
  'packages/contracts',
  'packages/audit-chain',
  'packages/deadline',
  'packages/encryption',
  'packages/regular-files',
  'packages/package-managers',
  'packages/outbound',
  'packages/tracing',
  'packages/service-kit',
  'packages/git-servers',
  'packages/image-registry',
  'packages/database',
  'packages/leases',
  'packages/object-storage',
  'packages/signals',
  'packages/build-queue',
  'packages/idempotency',
  'packages/event-bus',
  'packages/deleted-workspaces',
  'packages/run-stream',
  'packages/run-engine',
  'packages/checkpointer',
  'packages/host-protocol',
  'packages/project',
  'packages/host-client',
  'packages/deployments',
  'packages/revision-logs',
  'packages/reconciler',
  'packages/cli',
  'packages/test-kit',
];

/** Packages that the process with a project's code may load parts of: each delays every start of a project. */
export const HOSTS_IMPORT = [
  'packages/checkpointer',
  'packages/contracts',
  'packages/host-protocol',
  'packages/project',
  'packages/service-kit',
];

/**
 * Folders, and files beside them, that import each other in a circle, by the folder that they are in. A knot may shrink,
 * never grow: what has left its knot has to leave this list.
 */
export const FOLDER_KNOTS: FolderKnots = {};

/** The folders of agent-api that speak one protocol each. */
export const PROTOCOLS = ['a2a', 'ag-ui', 'event-protocol', 'mcp'];

/** Imports of one protocol's folder by another's, as numbers that may only shrink. */
export const PROTOCOL_IMPORTS: Record<string, number> = {
  'ag-ui → event-protocol': 3,
  'ag-ui → a2a': 4,
  'mcp → a2a': 13,
};
