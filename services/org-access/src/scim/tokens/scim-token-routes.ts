import { scimTokenOperations } from '@runyard/contracts';
import { type BoundOperation, bind, created, noContent, ok } from '@runyard/service-kit';
import type { ScimTokenService } from './scim-token-service.ts';

export function scimTokenRoutes(tokens: ScimTokenService): BoundOperation[] {
  return scimTokenOperations.flatMap((operations) => [
    bind(operations.create, async ({ caller, body }) => created(await tokens.create(caller, body))),
    bind(operations.list, async ({ caller }) => ok(await tokens.list(caller))),
    bind(operations.get, async ({ caller, params }) => ok(await tokens.get(caller, params.scim_token_id))),
    bind(operations.update, async ({ caller, params, body }) =>
      ok(await tokens.describe(caller, params.scim_token_id, body)),
    ),
    bind(operations.delete, async ({ caller, params }) => {
      await tokens.revoke(caller, params.scim_token_id);
      return noContent();
    }),
  ]);
}
