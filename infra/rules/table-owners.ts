export interface OwnedTables {
  tables: string[];
  /** The packages and services that may have statements on them. */
  owners: string[];
}

/**
 * The tables of a deployment's database, and those that packages bring along, with who may have statements on them. Tables
 * that only control-plane or org-access could reach are left out.
 */
export const OWNED_TABLES: OwnedTables[] = [
  {
    tables: [
      'api_server',
      'cron',
      'cron_creator',
      'cron_slot',
      'encryption_key',
      'run_metric',
      'thread',
      'thread_removal',
      'thread_state',
      'thread_state_behind',
      'webhook_delivery',
      'worker',
    ],
    owners: ['packages/run-engine'],
  },
  // run-history has a table of this name too, in its own database.
  { tables: ['run'], owners: ['packages/run-engine', 'services/run-history'] },
  {
    // A stored state is deleted by the statements that delete its run or thread, and a write of it holds the fence.
    tables: ['checkpoint', 'checkpoint_blob', 'checkpoint_write', 'checkpoint_write_replaced', 'thread_fence'],
    owners: ['packages/checkpointer', 'packages/run-engine'],
  },
  { tables: ['store_embedding', 'store_item'], owners: ['packages/checkpointer'] },
  { tables: ['assistant', 'assistant_version', 'run_feedback'], owners: ['services/agent-api'] },
  // An event is a row of the statement that makes its change.
  { tables: ['outbox'], owners: ['packages/event-bus', 'packages/run-engine'] },
  { tables: ['idempotency_key'], owners: ['packages/idempotency'] },
  { tables: ['duty'], owners: ['packages/leases'] },
  { tables: ['object_removal'], owners: ['packages/object-storage'] },
];

/** Statements on tables of others, by file: a list that may only shrink. */
export const FOREIGN_STATEMENTS: Record<string, string[]> = {
  'services/agent-api/src/a2a/tasks/task-store.ts': ['run', 'thread'],
  'services/agent-api/src/auth/subjects.ts': ['cron', 'run', 'thread'],
  'services/agent-api/src/crons/cron-store.ts': ['cron', 'cron_creator'],
  'services/agent-api/src/mcp/calls/runs-of-requests.ts': ['run'],
  'services/agent-api/src/mcp/tasks/given-answers.ts': ['run'],
  'services/agent-api/src/streams/thread-watch.ts': ['thread'],
  'services/agent-api/src/threads/thread-conditions.ts': ['thread_state'],
  'services/agent-api/src/threads/thread-search.ts': ['thread', 'thread_state'],
  'services/agent-api/src/threads/thread-store.ts': ['run', 'thread', 'thread_state'],
  'services/data-plane/src/deployment-servers/deployment-databases.ts': ['run'],
  'services/org-access/src/audit/audit-trail.ts': ['outbox'],
  'packages/run-engine/src/crons/fire-crons.ts': ['assistant'],
};
