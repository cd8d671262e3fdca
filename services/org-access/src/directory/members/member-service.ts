import type { ActiveMembersQuery, MemberUpdate, OrgMember } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { ForbiddenError, type Principal } from '@runyard/service-kit';
import { lockAdministrators } from '../../access/administrators.ts';
import { requireOrganizationAdministrator } from '../../access/require-administrator.ts';
import { lockGrantableRoles, requireAuthorityOver, requireKnownRole } from '../../access/role-authority.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database, Queries } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import { isNamedBy } from '../people/address-ownership.ts';
import { hashNewPassword } from '../people/set-password.ts';
import { changePassword } from './change-password.ts';
import { changeOrganizationRole } from './change-role.ts';
import { memberNotFound } from './member-errors.ts';
import { memberStore, type StoredMember } from './member-store.ts';
import { removeMember } from './remove-member.ts';
import { renderMember } from './render-member.ts';

/** Reads, changes and removes the members of the caller's organization. */
export class MemberService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async listAll({ organizationId }: Principal): Promise<OrgMember[]> {
    return (await memberStore.listAll(this.#database.prisma, organizationId)).map(renderMember);
  }

  async listPage(
    { organizationId }: Principal,
    query: ActiveMembersQuery,
  ): Promise<{ members: OrgMember[]; total: number }> {
    const { members, total } = await memberStore.listPage(this.#database.prisma, organizationId, query);
    return { members: members.map(renderMember), total };
  }

  async update(caller: Principal, id: string, change: MemberUpdate): Promise<OrgMember> {
    const { organizationId } = caller;
    const identityId = id.toLowerCase();
    const roleId = change.role_id?.toLowerCase();
    const hash = change.password ? await this.#hash(caller, identityId, change.password) : null;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        if (roleId) {
          const roles = await lockGrantableRoles(transaction, organizationId);
          requireKnownRole(roles, roleId, 'organization', ['body', 'role_id']);
          await changeOrganizationRole(transaction, audit, caller, { identityId, roleId });
        }
        if (change.full_name) await rename(transaction, audit, caller, identityId, toSqlText(change.full_name));
        const member = await requireMember(transaction, organizationId, identityId);
        if (hash) await changePassword(transaction, audit, caller, { ...member, personId: member.person.id }, hash);
        return renderMember(member);
      }),
    );
  }

  async #hash(caller: Principal, identityId: string, password: string): Promise<string> {
    requireOrganizationAdministrator(caller, 'make accounts and set passwords');
    const { person } = await requireMember(this.#database.prisma, caller.organizationId, identityId);
    return hashNewPassword(password, person.email);
  }

  async remove(caller: Principal, id: string): Promise<OrgMember> {
    return this.#database.transact(
      audited(async (transaction, audit) => {
        // Nobody gets another role between the check and the removal.
        await lockAdministrators(transaction, caller.organizationId);
        const member = await requireMember(transaction, caller.organizationId, id.toLowerCase());
        requireAuthorityOver(caller, member.organizationRoleId);
        await removeMember(transaction, audit, member);
        return renderMember(member);
      }),
    );
  }
}

/** A name belongs to the person: where others count on it too, only the person changes it. */
async function rename(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  caller: Principal,
  identityId: string,
  fullName: string,
): Promise<void> {
  const { organizationId } = caller;
  const { person, organizationRoleId } = await requireMember(transaction, organizationId, identityId);
  requireAuthorityOver(caller, organizationRoleId);
  if (person.fullName === fullName) return;
  if (!(await isNamedBy(transaction, organizationId, person.id)))
    throw new ForbiddenError('Only the person changes a name that other organizations show too', {
      code: 'person_of_other_organizations',
    });
  await transaction.identity.updateMany({ where: { organizationId, id: identityId }, data: { name: fullName } });
  await transaction.person.update({ where: { id: person.id }, data: { fullName } });
  audit.record(organizationId, {
    action: 'member.renamed',
    resourceType: 'identity',
    resourceId: identityId,
    before: { fullName: person.fullName },
    after: { fullName },
  });
}

async function requireMember(transaction: Queries, organizationId: string, identityId: string): Promise<StoredMember> {
  const member = await memberStore.find(transaction, organizationId, identityId);
  if (!member) throw memberNotFound();
  return member;
}
