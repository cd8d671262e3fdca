import {
  claimMyInvite,
  declineMyInvite,
  listEnrichedMembers,
  listMyInvites,
  memberOperations,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { MemberService } from '../members/member-service.ts';
import type { InviteService } from './invite-service.ts';
import type { InviteeService } from './invitee-service.ts';

export function inviteRoutes(parts: {
  members: MemberService;
  invites: InviteService;
  invitees: InviteeService;
  keys: IdempotencyKeys;
}): BoundOperation[] {
  const { members, invites, invitees, keys } = parts;
  return [
    ...listEnrichedMembers.map((operation) =>
      bind(operation, async ({ caller, query }) => {
        const page = await invites.listEnriched(caller, query);
        return ok(page.rows, { 'x-pagination-total': String(page.total) });
      }),
    ),
    ...listMyInvites.map((operation) => bind(operation, async ({ caller }) => ok(await invitees.list(caller)))),
    ...claimMyInvite.map((operation) =>
      bind(operation, async ({ caller, params }) => ok(await invitees.claim(caller, params.organization_id))),
    ),
    ...declineMyInvite.map((operation) =>
      bind(operation, async ({ caller, params }) => ok(await invitees.decline(caller, params.organization_id))),
    ),
    ...memberOperations.flatMap((operations) => [
      bind(operations.list, async ({ caller }) =>
        ok({
          organization_id: caller.organizationId,
          members: await members.listAll(caller),
          pending: await invites.listAll(caller),
        }),
      ),
      bind(operations.listPending, async ({ caller, query }) => {
        const page = await invites.listPage(caller, query);
        return ok(page.invites, { 'x-pagination-total': String(page.total) });
      }),
      bindCreation(keys, operations.add, ok, ({ caller, body }, keyed) => invites.add(caller, body, keyed)),
      bindCreation(keys, operations.addBatch, ok, ({ caller, body }, keyed) => invites.addBatch(caller, body, keyed)),
      bind(operations.withdraw, async ({ caller, params }) => ok(await invites.withdraw(caller, params.identity_id))),
    ]),
  ];
}
