import { memberOperations } from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, noContent, ok } from '@runyard/service-kit';
import type { MemberAccounts } from './member-accounts.ts';

export function memberAccountRoutes(accounts: MemberAccounts, keys: IdempotencyKeys): BoundOperation[] {
  return memberOperations.flatMap((operations) => [
    bindCreation(keys, operations.addBasicBatch, ok, ({ caller, body }, keyed) => accounts.create(caller, body, keyed)),
    bind(operations.createPasswordLink, async ({ caller, params }) =>
      ok(await accounts.createPasswordLink(caller, params.identity_id)),
    ),
    bind(operations.removeSecondFactors, async ({ caller, params }) => {
      await accounts.removeSecondFactors(caller, params.identity_id);
      return noContent();
    }),
  ]);
}
