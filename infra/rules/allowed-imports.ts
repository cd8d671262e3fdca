/**
 * The packages from the bottom up: each may import those above it in this list, and no other. Tests may import
 * `test-kit` besides, which stands last since no product code imports it.
 */
export const PACKAGES_BOTTOM_UP = [
  'packages/contracts',
  'packages/deadline',
  'packages/encryption',
  'packages/package-managers',
  'packages/outbound',
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

/** Imports against a rule that have still to be removed, as `from → to`. The list may shrink, never grow. */
export const KNOWN_VIOLATIONS: string[] = [
  'e2e/faults/bench/background/agent-api-parts.ts → services/agent-api/src/crons/cron-scheduler.ts',
  'e2e/faults/bench/background/agent-api-parts.ts → services/agent-api/src/meta/sweep-metrics.ts',
  'e2e/faults/bench/background/agent-api-parts.ts → services/agent-api/src/project/server-registration.ts',
  'e2e/faults/bench/background/agent-api-parts.ts → services/agent-api/src/runs/rescue-rounds.ts',
  'e2e/faults/bench/background/agent-api-parts.ts → services/agent-api/src/streams/run-watch.ts',
  'e2e/faults/bench/background/agent-api-parts.ts → services/agent-api/src/threads/thread-sweeper.ts',
  'e2e/faults/bench/background/agent-api-parts.ts → services/agent-api/src/webhooks/webhook-sender.ts',
  'e2e/faults/bench/background/platform-parts.ts → services/control-plane/src/reconciler/ownership.ts',
  'e2e/faults/bench/background/platform-parts.ts → services/control-plane/src/reconciler/reconciler.ts',
  'e2e/faults/bench/background/platform-parts.ts → services/gateway/src/authentication/open-exchanges.ts',
  'e2e/faults/bench/background/platform-parts.ts → services/gateway/src/proxy/unresponsive-upstreams.ts',
  'e2e/faults/bench/background/platform-parts.ts → services/gateway/src/routing/deployment-table.ts',
  'e2e/faults/bench/background/platform-parts.ts → services/gateway/src/routing/route-feed.ts',
  'e2e/faults/bench/background/platform-parts.ts → services/org-access/src/api-keys/last-use-recorder.ts',
  'e2e/faults/bench/background/run-worker-parts.ts → services/run-worker/src/claiming/claim-loop.ts',
  'e2e/faults/bench/background/run-worker-parts.ts → services/run-worker/src/hosts/host-supervisor.ts',
  'e2e/faults/bench/background/run-worker-parts.ts → services/run-worker/src/leases/lease-keeper.ts',
  'e2e/faults/bench/background/run-worker-parts.ts → services/run-worker/src/worker-metrics.ts',
  'e2e/faults/bench/background/run-worker-parts.ts → services/run-worker/test/fakes.ts',
];
