import { personalTokenOperations, serviceKeyOperations, workspaceKeyOperations } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { ApiKeyService } from './api-key-service.ts';

export function apiKeyRoutes(keys: ApiKeyService): BoundOperation[] {
  return [
    ...serviceKeyOperations.flatMap((operations) => [
      bind(operations.create, async ({ caller, body }) => ok(await keys.createServiceKey(caller, body))),
      bind(operations.list, async ({ caller }) => ok(await keys.listServiceKeys(caller))),
      bind(operations.delete, async ({ caller, params }) => ok(await keys.deleteServiceKey(caller, params.api_key_id))),
    ]),
    ...personalTokenOperations.flatMap((operations) => [
      bind(operations.create, async ({ caller, body }) => ok(await keys.createPersonalToken(caller, body))),
      bind(operations.list, async ({ caller }) => ok(await keys.listPersonalTokens(caller))),
      bind(operations.delete, async ({ caller, params }) => ok(await keys.deletePersonalToken(caller, params.pat_id))),
    ]),
    bind(workspaceKeyOperations.create, async ({ caller, body }) => ok(await keys.createWorkspaceKey(caller, body))),
    bind(workspaceKeyOperations.list, async ({ caller }) => ok(await keys.listWorkspaceKeys(caller))),
    bind(workspaceKeyOperations.delete, async ({ caller, params }) =>
      ok(await keys.deleteWorkspaceKey(caller, params.api_key_id)),
    ),
  ];
}
