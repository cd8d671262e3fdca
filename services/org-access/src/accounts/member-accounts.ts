import { randomBytes } from 'node:crypto';
import type { BasicMember, BasicMemberCreate, PasswordLink } from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ConflictError, type Principal } from '@runyard/service-kit';
import { requireOrganizationAdministrator } from '../access/require-administrator.ts';
import { type AuditRecorder, audited } from '../audit/audit-trail.ts';
import type { Database, Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { replaceInvites } from '../invites/create-invites.ts';
import { addPlannedMembers, requireNoMembers } from '../members/add-members.ts';
import { memberNotFound } from '../members/member-errors.ts';
import { memberStore } from '../members/member-store.ts';
import { requireOwnAccount, requireOwnFactors } from '../members/own-account.ts';
import { type PlannedMember, planMembers } from '../members/planned-member.ts';
import { renderMember } from '../members/render-member.ts';
import { hashNewPassword } from '../people/set-password.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { makeAccount } from './new-account.ts';
import { createToken } from './one-time-tokens.ts';
import type { SecondFactors } from './second-factors.ts';

/** An account that is to be made, with its password and the hash of it. */
interface NewAccount {
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
    this.#publicUrl = options.publicUrl.replace(/\/+$/, '');
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
    const accounts: NewAccount[] = [];
    // One after the other, so that people who sign in meanwhile get their turns.
    for (const [index, { email, password: given }] of people.entries()) {
      const password = given ?? randomBytes(18).toString('base64url');
      const hash = await hashNewPassword(password, email, ['body', index, 'password']);
      accounts.push({ password, hash });
    }
    const work = audited((transaction, audit) => addAll(transaction, audit, caller, people, accounts));
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
  accounts: readonly NewAccount[],
): Promise<BasicMember[]> {
  const { organizationId } = caller;
  const planned = await planAccounts(transaction, caller, people);
  await replaceInvites(
    transaction,
    audit,
    organizationId,
    planned.map(({ email }) => email),
  );
  const made = planned.map((member, index) => ({ ...member, hash: accounts[index]!.hash }));
  const accountsMade = [];
  // In one order, so that requests with the same people wait for each other rather than crosswise.
  for (const member of made.toSorted((one, other) => (one.email < other.email ? -1 : 1))) {
    const { email, fullName, hash } = member;
    const person = await makeAccount(transaction, { email, fullName, hash, provisioning: 'manual' });
    accountsMade.push({ planned: member, person });
  }
  const identityIds = await addPlannedMembers(transaction, audit, organizationId, accountsMade);
  for (const resourceId of identityIds)
    audit.record(organizationId, { action: 'member.account_created', resourceType: 'identity', resourceId });
  const ids = new Map(accountsMade.map(({ planned: { email } }, index) => [email, identityIds[index]!]));
  const inOrder = planned.map(({ email }) => ids.get(email)!);
  const members = await memberStore.findMany(transaction, organizationId, inOrder);
  return members.map((member, index) => ({ ...renderMember(member), password: accounts[index]!.password }));
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
  const known = await queries.person.findMany({
    where: {
      email: { in: emails },
      OR: [
        { identities: { some: {} } },
        { logins: { some: {} } },
        { passkeys: { some: {} } },
        { password: { isNot: null } },
      ],
    },
    select: { email: true },
    orderBy: { email: 'asc' },
  });
  if (known.length === 0) return planned;
  const addresses = known.map(({ email }) => email).join(', ');
  throw new ConflictError(`There are accounts with these addresses: ${addresses}`, {
    code: 'account_exists',
    headers: { 'x-should-retry': 'false' },
  });
}
