import { type BoundOperation, ForbiddenError } from '@runyard/service-kit';

/** The operation for callers alone whose role lets them do this; administrators of the organization may do all. */
export function askingPermission({ operation, handler }: BoundOperation): BoundOperation {
  const { access, permission, operationId } = operation;
  if (access !== 'principal') return { operation, handler };
  if (!permission) throw new Error(`${operationId} names no permission`);
  return {
    operation,
    handler: async (request) => {
      const { organizationRole, permissions } = request.caller;
      if (organizationRole !== 'admin' && !permissions.includes(permission)) {
        throw new ForbiddenError(`You may not do this in the workspace: ${permission} is missing`);
      }
      return handler(request);
    },
  };
}
