import type { OrgMember, PendingWorkspace } from '@runyard/contracts';
import { NotFoundError, type Principal } from '@runyard/service-kit';
import { audited } from '../../audit/audit-trail.ts';
import type { Database, Queries } from '../../database/database.ts';
import type { InviteWorkspace, Workspace } from '../../generated/client.ts';
import { findInvites, type InviteeService, type InviteWithOrganization } from '../invites/invitee-service.ts';

/** A workspace in an invite. */
interface Place {
  invite: InviteWithOrganization;
  entry: InviteWorkspace;
  workspace: Workspace;
}

/** Shows a signed-in person the workspaces to which invites for their address lead, and lets them accept or decline. */
export class WorkspaceInviteeService {
  readonly #database: Database;
  readonly #invitees: InviteeService;

  constructor(options: { database: Database; invitees: InviteeService }) {
    this.#database = options.database;
    this.#invitees = options.invitees;
  }

  async list(caller: Principal): Promise<PendingWorkspace[]> {
    return (await findPlaces(this.#database.prisma, caller)).map(renderPlace);
  }

  /**
   * Accepts the whole invite: nobody is in a workspace alone.
   *
   * @throws NotFoundError when no invite leads the person to the workspace; ConflictError when they are a member
   */
  async claim(caller: Principal, workspaceId: string): Promise<OrgMember> {
    const { invite } = await requirePlace(this.#database.prisma, caller, workspaceId);
    return this.#invitees.claim(caller, invite.organizationId);
  }

  /** Takes the workspace out of the invite, which stays. @throws NotFoundError when no invite leads the person there */
  async decline(caller: Principal, workspaceId: string): Promise<PendingWorkspace> {
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const place = await requirePlace(transaction, caller, workspaceId);
        const { id, roleId } = place.entry;
        const { count } = await transaction.inviteWorkspace.deleteMany({ where: { id, invite: { endedAt: null } } });
        if (count === 0) throw inviteNotFound();
        audit.record(place.invite.organizationId, {
          action: 'invite.workspace_declined',
          resourceType: 'invite_workspace',
          resourceId: id,
          workspaceId: place.workspace.id,
          before: { roleId },
        });
        return renderPlace(place);
      }),
    );
  }
}

/** Finds the workspaces of the invites that work for a person, without deleted ones. */
async function findPlaces(queries: Queries, caller: Principal): Promise<Place[]> {
  const { invites } = await findInvites(queries, caller, null);
  const entries = await queries.inviteWorkspace.findMany({
    where: { inviteId: { in: invites.map(({ id }) => id) } },
    orderBy: { id: 'asc' },
  });
  const workspaces = await queries.workspace.findMany({
    where: { id: { in: entries.map(({ workspaceId }) => workspaceId) }, deletedAt: null },
  });
  return invites.flatMap((invite) =>
    entries.flatMap((entry) => {
      const workspace = workspaces.find(({ id }) => id === entry.workspaceId);
      const isHere = entry.inviteId === invite.id && workspace?.organizationId === invite.organizationId;
      return isHere ? [{ invite, entry, workspace }] : [];
    }),
  );
}

async function requirePlace(queries: Queries, caller: Principal, workspaceId: string): Promise<Place> {
  const found = (await findPlaces(queries, caller)).find(({ workspace }) => workspace.id === workspaceId);
  if (!found) throw inviteNotFound();
  return found;
}

function renderPlace({ invite, entry, workspace }: Place): PendingWorkspace {
  return {
    id: workspace.id,
    organization_id: workspace.organizationId,
    display_name: workspace.displayName,
    tenant_handle: workspace.handle,
    role_id: entry.roleId,
    org_role_id: invite.organizationRoleId,
    invited_at: invite.createdAt.toISOString(),
    expires_at: invite.expiresAt.toISOString(),
  };
}

const inviteNotFound = () => new NotFoundError('Invite not found');
