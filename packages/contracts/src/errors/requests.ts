import type { ErrorEntry } from './entry.ts';

/** Errors of any service about the request itself. */
export const REQUEST_ERRORS = {
  bad_request: {
    status: 400,
    meaning: 'The request contradicts itself, or asks for something that is not possible.',
    remedy: 'Correct what `detail` names.',
  },
  url_refused: {
    status: 400,
    meaning: 'This service may not send requests to the address that the request names.',
    remedy: 'Correct the URL, or set `OUTBOUND_ALLOWED_NETWORKS`.',
  },
  not_found: {
    status: 404,
    meaning: 'The object does not exist, or the caller may not see it.',
    remedy: 'Compare the id with the list of such objects.',
  },
  route_not_found: {
    status: 404,
    meaning: 'The path has no route.',
    remedy: "Compare the path with the service's API reference.",
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, with other methods.',
    remedy: 'Use one of the methods in the header `Allow`.',
  },
  body_too_large: {
    status: 413,
    meaning: 'The body is over its limit, for example `HTTP_MAX_REQUEST_BODY_BYTES` of the gateway.',
    remedy: 'Send less, or raise the limit in the gateway and in the service.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The operation does not accept the content type of the body.',
    remedy: 'Send the content type that the API reference names.',
  },
  invalid_request: {
    status: 422,
    meaning: 'The path, the query, a header or the body has the wrong form; in a list, `loc` says where.',
    remedy: 'Correct it.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'A key names one request for `IDEMPOTENCY_KEY_RETENTION_HOURS`, and was sent with another one before.',
    remedy: 'Make a new key for a new request.',
  },
  idempotency_key_in_use: {
    status: 503,
    meaning:
      'The first request with this key is still being processed, by another process and for more than fifteen seconds.',
    remedy: 'Send the request again.',
  },
  internal_error: {
    status: 500,
    meaning: 'The service failed in a way that nobody has foreseen.',
    remedy: 'Find the line with this code in the log, by the `x-request-id` of the answer, and report it.',
  },
} as const satisfies Record<string, ErrorEntry>;
