import { takeAdvisoryLock } from '@runyard/database';
import { ForbiddenError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { areInvitesOn } from '../../access/effective-switches.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Invite, Organization, Prisma } from '../../generated/client.ts';
import type { EmailOutbox } from '../email/email-outbox.ts';
import type { InviteWithWorkspaces } from './claim-invite.ts';
import { inviteEmail } from './invite-email.ts';
import type { InviteLinks } from './invite-links.ts';

export interface NewInvite {
  /** Normalized. */
  email: string;
  fullName: string | null;
  organizationRoleId: string;
  workspaces: readonly { workspaceId: string; roleId: string }[];
}

export interface CreatedInvite {
  invite: InviteWithWorkspaces;
  /** Null when it is on its way by email. */
  link: string | null;
}

/** Makes invites, and sends their links by email where a mail server is configured. */
export class InviteMaker {
  readonly #emails: EmailOutbox;
  readonly #links: InviteLinks;
  readonly #ttlMs: number;

  /** @param options.ttlDays `INVITE_TTL_DAYS` */
  constructor(options: { emails: EmailOutbox; links: InviteLinks; ttlDays: number }) {
    this.#emails = options.emails;
    this.#links = options.links;
    this.#ttlMs = options.ttlDays * 86_400_000;
  }

  /**
   * Makes invites of an organization for addresses that are not those of members. They replace pending ones for the same
   * addresses. Creations of one organization wait for each other. The answer has them in the given order.
   *
   * @param invitedBy the identity of who invites
   * @throws ForbiddenError when the organization does not take invites
   */
  async create(
    transaction: Prisma.TransactionClient,
    audit: AuditRecorder,
    { organizationId, invitedBy }: { organizationId: string; invitedBy: string },
    invites: readonly NewInvite[],
  ): Promise<CreatedInvite[]> {
    if (invites.length === 0) return [];
    const organization = await lockInvites(transaction, organizationId);
    requireInvitesOn(organization);
    await replaceInvites(
      transaction,
      audit,
      organizationId,
      invites.map(({ email }) => email),
    );
    const expiresAt = new Date(Date.now() + this.#ttlMs);
    const made = invites.map((invite) => ({ invite, id: uuidv7(), ...this.#links.create() }));
    const rows = await transaction.invite.createManyAndReturn({
      data: made.map(({ id, tokenSha256, invite: { workspaces: _, ...invite } }) => {
        return { ...invite, id, organizationId, tokenSha256, invitedBy, expiresAt };
      }),
    });
    const workspaces = await transaction.inviteWorkspace.createManyAndReturn({
      data: made.flatMap(({ id: inviteId, invite }) =>
        invite.workspaces.map((workspace) => ({ ...workspace, id: uuidv7(), inviteId })),
      ),
    });
    if (this.#emails.isEnabled) {
      const emails = made.map(({ invite: { email }, link }) =>
        inviteEmail({ to: email, link, expiresAt, organizationName: organization.displayName }),
      );
      await this.#emails.enqueue(transaction, emails);
    }
    const byId = new Map(rows.map((row) => [row.id, row]));
    return made.map(({ id, link }) => {
      const row = byId.get(id) as Invite;
      const invite = { ...row, workspaces: workspaces.filter(({ inviteId }) => inviteId === id) };
      recordInvite(audit, invite);
      return { invite, link: this.#emails.isEnabled ? null : link };
    });
  }
}

/** Makes other creations of invites of the organization wait until the transaction ends. */
export async function lockInvites(
  transaction: Prisma.TransactionClient,
  organizationId: string,
): Promise<Organization> {
  await takeAdvisoryLock(transaction, `invites of ${organizationId}`);
  return transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
}

/** @throws ForbiddenError when the organization does not take invites */
export function requireInvitesOn(organization: Organization): void {
  if (organization.isPersonal)
    throw new ForbiddenError('A personal organization has one member', { code: 'personal_organization' });
  if (!areInvitesOn(organization))
    throw new ForbiddenError('Invites are disabled for this organization', { code: 'invites_disabled' });
}

/** Ends the pending invites for addresses, because something newer takes their place. */
export async function replaceInvites(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  emails: readonly string[],
): Promise<void> {
  const replaced = await transaction.invite.updateManyAndReturn({
    where: { organizationId, email: { in: [...emails] }, endedAt: null },
    data: { endedAt: new Date(), outcome: 'replaced' },
    select: { id: true, email: true, organizationRoleId: true, expiresAt: true },
  });
  for (const { id, ...before } of replaced)
    audit.record(organizationId, { action: 'invite.replaced', resourceType: 'invite', resourceId: id, before });
}

/** Returns what the audit trail says of an invite. */
export function describeInvite({ email, organizationRoleId, expiresAt, workspaces }: InviteWithWorkspaces): object {
  const places = workspaces.map(({ workspaceId, roleId }) => ({ workspaceId, roleId }));
  return { email, organizationRoleId, expiresAt, workspaces: places };
}

function recordInvite(audit: AuditRecorder, invite: InviteWithWorkspaces): void {
  const about = { resourceType: 'invite', resourceId: invite.id } as const;
  audit.record(invite.organizationId, { action: 'invite.created', ...about, after: describeInvite(invite) });
}
