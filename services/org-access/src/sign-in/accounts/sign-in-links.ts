import { takeAdvisoryLock } from '@runyard/database';
import { BadRequestError, ConflictError, NotFoundError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { findFirstAdministrator } from '../../access/administrators.ts';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import { actAs } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import { provisionMember } from '../../directory/members/provision-member.ts';
import type { OneTimeToken, Prisma } from '../../generated/client.ts';
import type { AccountSignIn } from './account-sign-in.ts';
import { ensureEmailLogins } from './email-login.ts';
import { createToken, findToken, useToken } from './one-time-tokens.ts';
import type { OpenedSession } from './sign-in-outcomes.ts';

/** The administrator of an organization that no person administers. Nobody else can have this address. */
const LOCAL_ADMINISTRATOR = { fullName: 'Local administrator', email: 'administrator@localhost' };

/** Links by which the operator of a machine signs a browser in, as an administrator of the default organization. */
export class SignInLinks {
  readonly #database: Database;
  readonly #signIn: AccountSignIn;

  constructor(options: { database: Database; signIn: AccountSignIn }) {
    this.#database = options.database;
    this.#signIn = options.signIn;
  }

  /** Creates a link. @returns its token, which is stored nowhere, and its end @throws NotFoundError */
  create(): Promise<{ token: string; expiresAt: Date }> {
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const organization = await transaction.organization.findFirst({
          where: { isDefault: true },
          select: { id: true },
        });
        if (!organization) throw new NotFoundError('There is no default organization yet');
        const { id: organizationId } = organization;
        const about = { resourceType: 'organization', resourceId: organizationId };
        audit.record(organizationId, { action: 'sign_in_link.created', ...about });
        return createToken(transaction, { purpose: 'sign_in_link', details: { organizationId } });
      }),
    );
  }

  /**
   * Uses a link up, and opens a session of the organization's first administrator, who is made where there is none. Of
   * two browsers with one link the first gets in.
   *
   * @throws BadRequestError when the link does not work any more
   * @throws ConflictError when somebody else has the address of the administrator who is to be made
   */
  async follow({ token, userAgent }: { token: string; userAgent: string | null }): Promise<OpenedSession> {
    // Strangers with a wrong token wait for no lock, and make nobody wait.
    requireLink(await findToken(this.#database.prisma, 'sign_in_link', token));
    const follow = audited(async (transaction, audit) => {
      await takeAdvisoryLock(transaction, 'bootstrap');
      const organizationId = requireLink(await findToken(transaction, 'sign_in_link', token));
      const personId =
        (await lockAdministrator(transaction, organizationId)) ??
        (await makeAdministrator(transaction, audit, organizationId));
      requireLink(await useToken(transaction, 'sign_in_link', token));
      return actAs({ actorKind: 'person', actorId: personId, credentialId: null }, async () => {
        const opened = await this.#signIn.open(transaction, audit, { personId, userAgent, by: 'sign_in_link' });
        await transaction.session.update({ where: { id: opened.id }, data: { organizationId } });
        return opened;
      });
    });
    return this.#database.transact(follow);
  }
}

/** Locks the administrator as whom a link signs in: who is demoted or disabled meanwhile is not the one. */
async function lockAdministrator(
  transaction: Prisma.TransactionClient,
  organizationId: string,
): Promise<string | null> {
  for (;;) {
    const personId = await findFirstAdministrator(transaction, organizationId);
    if (personId === null) return null;
    await lockPerson(transaction, personId);
    if ((await findFirstAdministrator(transaction, organizationId)) === personId) return personId;
  }
}

/** @throws ConflictError for a person who is there already: whoever made them may know how to sign in as them */
async function makeAdministrator(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
): Promise<string> {
  const person = { ...LOCAL_ADMINISTRATOR, id: uuidv7(), emailVerifiedAt: new Date() };
  const { count } = await transaction.person.createMany({ data: [person], skipDuplicates: true });
  if (count === 0)
    throw new ConflictError(`There is a person with the address ${person.email} who administers nothing here`, {
      code: 'account_exists',
    });
  await ensureEmailLogins(transaction, [person], 'bootstrap');
  const role = { source: 'bootstrap', sourceId: null, roleId: PLATFORM_ROLES.organizationAdmin } as const;
  await actAs({ actorKind: 'person', actorId: person.id, credentialId: null }, () =>
    provisionMember(transaction, audit, {
      organizationId,
      personId: person.id,
      name: person.fullName,
      isAccepted: true,
      grants: [{ ...role, workspaceId: null }],
    }),
  );
  return person.id;
}

/** Returns the organization of a link. @throws BadRequestError for none that still works */
function requireLink(link: OneTimeToken | null): string {
  if (!link)
    throw new BadRequestError('This link has been used, or has expired: make another one', { code: 'link_expired' });
  return (link.details as { organizationId: string }).organizationId;
}
