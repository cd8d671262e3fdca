import {
  addWorkspaceMember,
  addWorkspaceMembers,
  claimMyWorkspaceInvite,
  declineMyWorkspaceInvite,
  listActiveWorkspaceMembers,
  listMyWorkspaceInvites,
  listPendingWorkspaceMembers,
  listWorkspaceMembers,
  removeWorkspaceMember,
  updateWorkspaceInvite,
  updateWorkspaceMember,
  withdrawWorkspaceInvite,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok, tenantOf } from '@runyard/service-kit';
import type { WorkspaceInviteService } from './workspace-invite-service.ts';
import type { WorkspaceInviteeService } from './workspace-invitee-service.ts';
import type { WorkspaceMemberService } from './workspace-member-service.ts';

export function workspaceMemberRoutes(
  {
    members,
    invites,
    invitees,
  }: { members: WorkspaceMemberService; invites: WorkspaceInviteService; invitees: WorkspaceInviteeService },
  keys: IdempotencyKeys,
): BoundOperation[] {
  return [
    bind(listWorkspaceMembers, async ({ caller }) =>
      ok({
        tenant_id: tenantOf(caller).workspaceId,
        members: (await members.list(caller, null)).members,
        pending: (await members.listInvites(caller, null)).invites,
      }),
    ),
    bind(listActiveWorkspaceMembers, async ({ caller, query }) => {
      const page = await members.list(caller, query);
      return ok(page.members, { 'x-pagination-total': String(page.total) });
    }),
    bind(listPendingWorkspaceMembers, async ({ caller, query }) => {
      const page = await members.listInvites(caller, query);
      return ok(page.invites, { 'x-pagination-total': String(page.total) });
    }),
    bindCreation(keys, addWorkspaceMember, ok, ({ caller, body }, keyed) =>
      members.add(caller, { ...body, role_id: body.role_id.toLowerCase() }, keyed),
    ),
    bindCreation(keys, addWorkspaceMembers, ok, ({ caller, body }, keyed) => invites.addBatch(caller, body, keyed)),
    bind(listMyWorkspaceInvites, async ({ caller }) => ok(await invitees.list(caller))),
    bind(claimMyWorkspaceInvite, async ({ caller, params }) =>
      ok(await invitees.claim(caller, params.workspace_id.toLowerCase())),
    ),
    bind(declineMyWorkspaceInvite, async ({ caller, params }) =>
      ok(await invitees.decline(caller, params.workspace_id.toLowerCase())),
    ),
    bind(updateWorkspaceMember, async ({ caller, params, body }) =>
      ok(await members.update(caller, params.workspace_member_id.toLowerCase(), body.role_id.toLowerCase())),
    ),
    bind(removeWorkspaceMember, async ({ caller, params }) =>
      ok(await members.remove(caller, params.workspace_member_id.toLowerCase())),
    ),
    bind(updateWorkspaceInvite, async ({ caller, params, body }) =>
      ok(await members.updateInvite(caller, params.workspace_member_id.toLowerCase(), body.role_id.toLowerCase())),
    ),
    bind(withdrawWorkspaceInvite, async ({ caller, params }) =>
      ok(await members.withdraw(caller, params.workspace_member_id.toLowerCase())),
    ),
  ];
}
