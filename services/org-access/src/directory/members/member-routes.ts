import { memberOperations } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { MemberService } from './member-service.ts';

export function memberRoutes(members: MemberService): BoundOperation[] {
  return memberOperations.flatMap((operations) => [
    bind(operations.listActive, async ({ caller, query }) => {
      const page = await members.listPage(caller, query);
      return ok(page.members, { 'x-pagination-total': String(page.total) });
    }),
    bind(operations.update, async ({ caller, params, body }) =>
      ok(await members.update(caller, params.identity_id, body)),
    ),
    bind(operations.remove, async ({ caller, params }) => ok(await members.remove(caller, params.identity_id))),
  ]);
}
