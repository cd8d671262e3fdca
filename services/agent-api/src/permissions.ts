import type { Operation } from '@runyard/contracts';
import { type BoundOperation, ForbiddenError } from '@runyard/service-kit';

type Permission = 'runs:create' | 'runs:read' | 'runs:update' | 'runs:delete';

/** POST only because the question is too long for a query. */
const READING_POSTS = /\/(search|count|history|namespaces|state\/checkpoint)$/;
/** What takes runs with it. */
const RUN_OWNERS = /^\/(threads|runs)\//;
const CHANGING_POSTS = /\/(cancel|state)$/;

/** Which permission of the workspace an operation takes. Threads, assistants and the store belong to the runs they serve. */
export function permissionOf({ method, path }: Pick<Operation, 'method' | 'path'>): Permission {
  if (method === 'get' || (method === 'post' && READING_POSTS.test(path))) return 'runs:read';
  if (method === 'delete' && RUN_OWNERS.test(path)) return 'runs:delete';
  if (method === 'post' && !CHANGING_POSTS.test(path)) return 'runs:create';
  return 'runs:update';
}

/** The operation for callers alone whose role lets them do this; administrators of the organization may do all. */
export function askingPermission({ operation, handler }: BoundOperation): BoundOperation {
  if (operation.access !== 'principal') return { operation, handler };
  const permission = permissionOf(operation);
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
