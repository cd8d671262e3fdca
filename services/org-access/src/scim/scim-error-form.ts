import type { ErrorForm } from '@runyard/service-kit';
import { SCIM_CONTENT_TYPE } from './scim-gate.ts';

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Gives an error the form of RFC 7644 §3.12. A request of the wrong form is 400 there, not 422. */
export const toScimError: ErrorForm = (_req, { status, headers, body }) => {
  const isInvalid = status === 422;
  const scimStatus = isInvalid ? 400 : status;
  const { detail, scimType = isInvalid ? 'invalidSyntax' : undefined } = body;
  return {
    status: scimStatus,
    headers: { ...headers, 'content-type': SCIM_CONTENT_TYPE },
    body: {
      schemas: [ERROR_SCHEMA],
      status: String(scimStatus),
      ...(scimType !== undefined && { scimType }),
      detail: typeof detail === 'string' ? detail : toText(detail),
    },
  };
};

function toText(detail: unknown): string {
  const issues = Array.isArray(detail) ? (detail as { loc?: unknown[]; msg?: string }[]) : [];
  return issues.map(({ loc, msg }) => `${(loc ?? []).join('.')}: ${msg}`).join('; ') || 'The request is not valid';
}
