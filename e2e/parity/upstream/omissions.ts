/**
 * A part of other agent servers that this one has not: every difference from `operations.json` is named here, with its
 * reason.
 */
export interface Omission {
  /** Operations as in `operations.json`. */
  operations: string[];
  /** Fields and answers; left out when the operation itself is not served. */
  what?: (string | number)[];
  why: string;
}

const SEARCHES = ['POST /assistants/search', 'POST /assistants/count', 'POST /threads/count', 'POST /runs/crons/count'];
const DELETIONS = [
  'DELETE /assistants/{assistant_id}',
  'DELETE /threads/{thread_id}',
  'DELETE /threads/{thread_id}/runs/{run_id}',
  'DELETE /runs/crons/{cron_id}',
];
const STATELESS = ['POST /runs', 'POST /runs/batch', 'POST /runs/stream', 'POST /runs/wait'];

export const OMISSIONS: Omission[] = [
  {
    operations: ['POST /a2a/{assistant_id}'],
    what: ['header.accept', 400, 404, 500],
    why: 'answers do not depend on it, and what is wrong with a call is an error of JSON-RPC with the status 200',
  },
  {
    operations: ['POST /mcp/', 'GET /mcp/', 'DELETE /mcp/'],
    why: 'the path is `/mcp`, as clients ask it; other methods than POST are answered 405',
  },
  { operations: SEARCHES, what: [404], why: 'what matches nothing is an empty answer, or 0' },
  { operations: DELETIONS, what: [200], why: 'the answer has no body: it is 204' },
  { operations: STATELESS, what: [409], why: 'no thread can be busy' },
  {
    operations: ['POST /threads/{thread_id}/history'],
    what: ['thread_id', 'checkpoint_ns', 'checkpoint_id', 'checkpoint_map'].map((name) => `body.before.${name}`),
    why: '`before` is shown as a whole: it is an id, a checkpoint, or one under `configurable`',
  },
  { operations: ['GET /ok'], what: [500], why: 'a server that is not ready answers 503' },
];
