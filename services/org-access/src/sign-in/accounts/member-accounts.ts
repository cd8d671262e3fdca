import { randomBytes } from 'node:crypto';
import type { BasicMember, BasicMemberCreate, PasswordLink } from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ConflictError, type Principal } from '@runyard/service-kit';
import { endSessions } from '../../access/credentials/end-sessions.ts';
import { requireOrganizationAdministrator } from '../../access/require-administrator.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database, Queries } from '../../database/database.ts';
import { replaceInvites } from '../../directory/invites/create-invites.ts';
import { addPlannedMembers, requireNoMembers } from '../../directory/members/add-members.ts';
import { memberNotFound } from '../../directory/members/member-errors.ts';
import { memberStore } from '../../directory/members/member-store.ts';
import { requireOwnAccount, requireOwnFactors } from '../../directory/members/own-account.ts';
import { type PlannedMember, planMembers } from '../../directory/members/planned-member.ts';
import { renderMember } from '../../directory/members/render-member.ts';
import { hashNewPassword } from '../../directory/people/set-password.ts';
import type { Prisma } from '../../generated/client.ts';
import { findAccounts, makeAccounts } from './new-account.ts';
import { createToken } from './one-time-tokens.ts';
import type { SecondFactors } from './second-factors.ts';

/** A password that is to be set, and its hash. */
interface NewPassword {
  password: string;
  hash: string;
}

/** Accounts of members that administrators make, and the links with which they let members set a password. */
export class MemberAccounts {
  readonly #database: Database;
  readonly #factors: SecondFactors;
  readonly #publicUrl: string;

  /** @param options.publicUrl base URL of the gateway as browsers know it */
  constructor(options: { database: Database; factors: SecondFactors; publicUrl: string }) {
    this.#database = options.database;
    this.#factors = options.factors;
    this.#publicUrl = options.publicUrl.replace(/(?<!\/)\/+$/, '');
  }

  /**
   * Makes people who are new to the platform members, with accounts: all or none. An account that exists is never given
   * a password here, because whoever knows it could act as its person.
   *
   * @throws ConflictError when there is an account or a member with one of the addresses; InvalidFieldError;
   *   ForbiddenError
   */
  async create(caller: Principal, people: BasicMemberCreate[], keyed?: KeyedRequest): Promise<BasicMember[]> {
    requireOrganizationAdministrator(caller, 'make accounts and set passwords');
    // Hashing takes its time, and nobody should wait for it to be refused.
    await planAccounts(this.#database.prisma, caller, people);
    const passwords: NewPassword[] = [];
    // One after the other, so that people who sign in meanwhile get their turns.
    for (const [index, { email, password: given }] of people.entries()) {
      const password = given ?? randomBytes(18).toString('base64url');
      const hash = await hashNewPassword(password, email, ['body', index, 'password']);
      passwords.push({ password, hash });
    }
    const work = audited((transaction, audit) => addAll(transaction, audit, caller, people, passwords));
    return this.#database.transact(withIdempotencyKey(keyed, work));
  }

  /**
   * Makes a link with which a member sets a password: instead of a forgotten one, or the first.
   *
   * @throws ConflictError when the account is not the organization's alone, or the caller's own; NotFoundError; ForbiddenError
   */
  async createPasswordLink(caller: Principal, id: string): Promise<PasswordLink> {
    requireOrganizationAdministrator(caller, 'make accounts and set passwords');
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const member = await memberStore.find(transaction, organizationId, id.toLowerCase());
        if (!member) throw memberNotFound();
        const { id: personId, email } = member.person;
        await requireOwnAccount(transaction, caller, personId);
        const details = { byAdministrator: true, organizationId };
        const { token, expiresAt } = await createToken(transaction, {
          ...{ purpose: 'reset_password', personId, email, details },
        });
        const about = { resourceType: 'identity', resourceId: member.id } as const;
        audit.record(organizationId, {
          action: 'member.password_link_created',
          ...about,
          details: { email, expiresAt },
        });
        return { link: `${this.#publicUrl}/auth/new-password?token=${token}`, expires_at: expiresAt.toISOString() };
      }),
    );
  }

  /**
   * Removes the second factors of a member who has lost them, and ends all sessions.
   *
   * @throws ConflictError when the account is not the organization's alone, or the caller's own; NotFoundError; ForbiddenError
   */
  async removeSecondFactors(caller: Principal, id: string): Promise<void> {
    requireOrganizationAdministrator(caller, 'remove second factors');
    const { organizationId } = caller;
    await this.#database.transact(
      audited(async (transaction, audit) => {
        const member = await memberStore.find(transaction, organizationId, id.toLowerCase());
        if (!member) throw memberNotFound();
        const { id: personId } = member.person;
        await requireOwnFactors(transaction, caller, personId);
        const removed = await this.#factors.removeAll(transaction, personId);
        await endSessions(transaction, { personId }, 'credentials_changed');
        const about = { resourceType: 'identity', resourceId: member.id } as const;
        audit.record(organizationId, { action: 'member.second_factors_removed', ...about, before: removed });
      }),
    );
  }
}

async function addAll(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  caller: Principal,
  people: readonly BasicMemberCreate[],
  passwords: readonly NewPassword[],
): Promise<BasicMember[]> {
  const { organizationId } = caller;
  const planned = await planAccounts(transaction, caller, people);
  await replaceInvites(
    transaction,
    audit,
    organizationId,
    planned.map(({ email }) => email),
  );
  const accounts = planned.map(({ email, fullName }, index) => ({ email, fullName, hash: passwords[index]!.hash }));
  const made = await makeAccounts(transaction, organizationId, accounts, 'manual');
  const identityIds = await addPlannedMembers(
    transaction,
    audit,
    organizationId,
    planned.map((member, index) => ({ planned: member, person: made[index]!, isAccepted: true })),
  );
  for (const resourceId of identityIds)
    audit.record(organizationId, { action: 'member.account_created', resourceType: 'identity', resourceId });
  const members = await memberStore.findMany(transaction, organizationId, identityIds);
  return members.map((member, index) => ({ ...renderMember(member), password: passwords[index]!.password }));
}

/** Checks a request for accounts. Addresses of removed members and of people of other organizations look alike. */
async function planAccounts(
  queries: Queries,
  caller: Principal,
  people: readonly BasicMemberCreate[],
): Promise<PlannedMember[]> {
  const planned = await planMembers(queries, caller, people, { isBatch: true, mayHavePassword: true });
  const emails = planned.map(({ email }) => email);
  await requireNoMembers(queries, caller.organizationId, emails);
  const known = await findAccounts(queries, caller.organizationId, emails);
  if (known.length === 0) return planned;
  throw new ConflictError(`There are accounts with these addresses: ${known.join(', ')}`, {
    code: 'account_exists',
    headers: { 'x-should-retry': 'false' },
  });
}
