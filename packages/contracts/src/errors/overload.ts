import type { ErrorEntry } from './entry.ts';

/** Errors about limits that protect a process. Nothing was done for such a request. */
export const OVERLOAD_ERRORS = {
  too_many_requests_in_flight: {
    status: 503,
    meaning: '`HTTP_MAX_REQUESTS_IN_FLIGHT` requests are being answered. Nothing was done for this one.',
    remedy: 'Retry after `Retry-After`; if it lasts, add processes, or raise the limit where memory allows.',
    refusal: 'requests_in_flight',
  },
  too_many_body_bytes: {
    status: 503,
    meaning:
      'The bodies being received reach `HTTP_MAX_BODY_BYTES_IN_FLIGHT`, of which callers who are not known yet have an eighth. Nothing was done for the request.',
    remedy: 'Retry after `Retry-After`; if it lasts, add processes, or raise the limit where memory allows.',
    refusal: 'body_bytes',
  },
  too_many_open_streams: {
    status: 503,
    meaning:
      '`HTTP_MAX_OPEN_STREAMS` clients stream runs, wait for them, or follow their changes. Nothing was done for the request.',
    remedy: 'Retry after `Retry-After`; if it lasts, add processes, or raise the limit where memory allows.',
    refusal: 'open_streams',
  },
  too_many_result_bytes: {
    status: 503,
    meaning: 'The large results being sent reach `HTTP_MAX_RESULT_BYTES_IN_FLIGHT`. The run itself is unaffected.',
    remedy: 'Retry after `Retry-After`; if it lasts, add processes, or raise the limit where memory allows.',
    refusal: 'result_bytes',
  },
  write_queue_full: {
    status: 503,
    meaning: 'The database is slower than new writes arrive. Nothing was done for the request.',
    remedy: 'Look at the database.',
    refusal: 'write_queue',
  },
} as const satisfies Record<string, ErrorEntry>;
