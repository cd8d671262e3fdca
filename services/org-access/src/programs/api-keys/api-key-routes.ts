import {
  createServiceAccount,
  deleteServiceAccount,
  listServiceAccounts,
  ownTokenOperations,
  personalTokenOperations,
  rotateServiceKey,
  serviceKeyOperations,
  updateServiceKey,
  workspaceKeyOperations,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ForbiddenError, ok, type Principal, requirePermission } from '@runyard/service-kit';
import type { PersonalTokenService } from './personal-token-service.ts';
import type { ServiceAccountService } from './service-account-service.ts';
import type { ServiceKeyService } from './service-key-service.ts';

export function apiKeyRoutes(
  services: { keys: ServiceKeyService; tokens: PersonalTokenService; accounts: ServiceAccountService },
  idempotency: IdempotencyKeys,
): BoundOperation[] {
  const { keys, tokens, accounts } = services;
  return [
    ...serviceKeyOperations.flatMap((operations) => [
      bindCreation(idempotency, operations.create, ok, ({ caller, body }, keyed) => keys.create(caller, body, keyed)),
      bind(operations.list, async ({ caller }) => ok(await keys.list(caller))),
      bind(operations.delete, async ({ caller, params }) => ok(await keys.delete(caller, params.api_key_id))),
    ]),
    ...updateServiceKey.map((operation) =>
      bind(operation, async ({ caller, params, body }) => ok(await keys.update(caller, params.api_key_id, body))),
    ),
    ...rotateServiceKey.map((operation) =>
      bindCreation(idempotency, operation, ok, ({ caller, params, body }, keyed) =>
        keys.rotate(caller, params.api_key_id, body, keyed),
      ),
    ),
    ...personalTokenOperations.flatMap((operations) => [
      bindCreation(idempotency, operations.create, ok, ({ caller, body }, keyed) => tokens.create(caller, body, keyed)),
      bind(operations.list, async ({ caller }) => ok(await tokens.list(caller))),
      bind(operations.delete, async ({ caller, params }) => ok(await tokens.delete(caller, params.pat_id))),
    ]),
    bindCreation(idempotency, ownTokenOperations.create, ok, ({ caller, body }, keyed) => {
      requirePermission(memberOf(caller), 'organization:pats:create');
      return tokens.create(caller, body, keyed);
    }),
    bind(ownTokenOperations.list, async ({ caller }) => ok(await tokens.list(memberOf(caller)))),
    bind(ownTokenOperations.delete, async ({ caller, params }) =>
      ok(await tokens.delete(memberOf(caller), params.pat_id)),
    ),
    bindCreation(idempotency, workspaceKeyOperations.create, ok, ({ caller, body }, keyed) =>
      keys.createInWorkspace(caller, body, keyed),
    ),
    bind(workspaceKeyOperations.list, async ({ caller }) => ok(await keys.listInWorkspace(caller))),
    bind(workspaceKeyOperations.delete, async ({ caller, params }) =>
      ok(await keys.deleteInWorkspace(caller, params.api_key_id)),
    ),
    bind(listServiceAccounts, async ({ caller }) => ok(await accounts.list(caller))),
    bindCreation(idempotency, createServiceAccount, ok, ({ caller, body }, keyed) =>
      accounts.create(caller, body, keyed),
    ),
    bind(deleteServiceAccount, async ({ caller, params }) =>
      ok(await accounts.delete(caller, params.service_account_id)),
    ),
  ];
}

/** Returns a caller who acts in an organization: people may sign in to none. @throws ForbiddenError */
function memberOf(caller: Principal): Principal {
  if (caller.organizationId !== '') return caller;
  throw new ForbiddenError('Choose an organization: send X-Organization-Id', { code: 'organization_required' });
}
