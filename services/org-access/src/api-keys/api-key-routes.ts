import { personalTokenOperations, serviceKeyOperations, workspaceKeyOperations } from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { ApiKeyService } from './api-key-service.ts';

export function apiKeyRoutes(keys: ApiKeyService, idempotency: IdempotencyKeys): BoundOperation[] {
  return [
    ...serviceKeyOperations.flatMap((operations) => [
      bindCreation(idempotency, operations.create, ok, ({ caller, body }, keyed) =>
        keys.createServiceKey(caller, body, keyed),
      ),
      bind(operations.list, async ({ caller }) => ok(await keys.listServiceKeys(caller))),
      bind(operations.delete, async ({ caller, params }) => ok(await keys.deleteServiceKey(caller, params.api_key_id))),
    ]),
    ...personalTokenOperations.flatMap((operations) => [
      bindCreation(idempotency, operations.create, ok, ({ caller, body }, keyed) =>
        keys.createPersonalToken(caller, body, keyed),
      ),
      bind(operations.list, async ({ caller }) => ok(await keys.listPersonalTokens(caller))),
      bind(operations.delete, async ({ caller, params }) => ok(await keys.deletePersonalToken(caller, params.pat_id))),
    ]),
    bindCreation(idempotency, workspaceKeyOperations.create, ok, ({ caller, body }, keyed) =>
      keys.createWorkspaceKey(caller, body, keyed),
    ),
    bind(workspaceKeyOperations.list, async ({ caller }) => ok(await keys.listWorkspaceKeys(caller))),
    bind(workspaceKeyOperations.delete, async ({ caller, params }) =>
      ok(await keys.deleteWorkspaceKey(caller, params.api_key_id)),
    ),
  ];
}
