import { AppError, BadRequestError, ConflictError } from '@runyard/service-kit';

/** The `scimType` of RFC 7644 §3.12. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness'
  | 'tooMany';

/** Returns the error for a request that a client has to change. */
export function badRequest(scimType: Exclude<ScimType, 'uniqueness'>, detail: string): BadRequestError {
  return new BadRequestError(detail, { code: 'scim_request_invalid', body: { scimType }, internal: { scimType } });
}

/** Returns the error for a name or id that another resource has. */
export function notUnique(attribute: string): ConflictError {
  return new ConflictError(`Another resource has this ${attribute}`, {
    code: 'scim_not_unique',
    body: { scimType: 'uniqueness' },
  });
}

/** The resource is not in the version that the client expects. */
export class PreconditionFailedError extends AppError<412> {
  readonly status = 412;
}

/** The protocol defines it, and this service does not do it. */
export class NotImplementedError extends AppError<501> {
  readonly status = 501;
}
