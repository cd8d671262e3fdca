import { createRole, deleteRole, listPermissions, listRoles, updateRole } from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { PERMISSIONS, type RoleService } from './role-service.ts';

export function roleRoutes(roles: RoleService, keys: IdempotencyKeys): BoundOperation[] {
  return [
    ...listRoles.map((operation) => bind(operation, async ({ caller }) => ok(await roles.list(caller)))),
    ...createRole.map((operation) =>
      bindCreation(keys, operation, ok, ({ caller, body }, keyed) => roles.create(caller, body, keyed)),
    ),
    ...updateRole.map((operation) =>
      bind(operation, async ({ caller, params, body }) =>
        ok(await roles.update(caller, params.custom_role_id.toLowerCase(), body)),
      ),
    ),
    ...deleteRole.map((operation) =>
      bind(operation, async ({ caller, params }) =>
        ok(await roles.delete(caller, params.custom_role_id.toLowerCase())),
      ),
    ),
    ...listPermissions.map((operation) => bind(operation, async () => ok([...PERMISSIONS]))),
  ];
}
