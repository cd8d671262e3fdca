import type { ErrorEntry } from './entry.ts';

/** Errors of a process that starts, stops or is not ready. */
export const PROCESS_ERRORS = {
  service_not_ready: {
    status: 503,
    meaning: 'The service is starting or stopping, or a server that it needs is unavailable: `detail` names it.',
    remedy: 'Bring that server back: connections recover by themselves, within ten seconds.',
  },
  service_stopping: {
    status: 503,
    meaning: 'The process is stopping and takes no new websockets.',
    remedy: 'Connect again after `Retry-After`: another process takes it.',
  },
  migration_failed: {
    meaning: 'The database does not belong to this version, or a script failed. Nothing after that script was applied.',
    remedy: 'The message says which migration, and what to do.',
  },
  graph_load_failed: {
    meaning: 'The project does not load: the message names the file or the graph. Nothing was changed in the database.',
    remedy: 'Correct the project.',
  },
} as const satisfies Record<string, ErrorEntry>;
