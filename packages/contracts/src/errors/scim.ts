import type { ErrorEntry } from './entry.ts';

/** Errors of org-access to identity providers that speak SCIM. */
export const SCIM_ERRORS = {
  scim_token_invalid: {
    status: 401,
    meaning: 'The request has no SCIM token, or one that is unknown or revoked.',
    remedy: 'Make a token at `/v1/platform/orgs/current/scim/tokens` and give it to the identity provider.',
  },
  scim_request_invalid: {
    status: 400,
    meaning: 'The resource, the filter or the PATCH is not valid; `scimType` and `detail` say in which way.',
    remedy: 'Correct the attribute mapping of the identity provider.',
  },
  scim_discovery_filter: {
    status: 403,
    meaning: 'Schemas and resource types are not filtered (RFC 7644 §4).',
    remedy: 'Read the whole list.',
  },
  scim_not_unique: {
    status: 409,
    meaning: 'Another user has the `userName`, the `externalId` or the work address, or another group the name.',
    remedy: 'Have the identity provider match the existing resource, or delete that one.',
  },
  scim_version_conflict: {
    status: 412,
    meaning: 'The resource was changed since the version in `If-Match`.',
    remedy: 'Read it and decide again.',
  },
  http_version_unsupported: {
    status: 426,
    meaning: 'SCIM needs HTTP/1.1 or later.',
    remedy: 'Configure the client or its proxy.',
  },
  scim_not_implemented: {
    status: 501,
    meaning: 'Bulk operations and `/Me` are not supported, as the configuration of the server says.',
    remedy: 'Turn them off at the identity provider.',
  },
} as const satisfies Record<string, ErrorEntry>;
