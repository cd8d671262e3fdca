import { fileURLToPath } from 'node:url';
import { v7 as uuidv7 } from 'uuid';
import { PLATFORM_ROLES } from '../../src/access/platform-roles.ts';
import { addGrants, applyGrants, type NewGrant } from '../../src/access/role-grants.ts';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { type NewSession, openSession } from '../../src/sign-in/sessions/open-session.ts';
import type { TestOrgAccess } from './platform.ts';

/** Puts people and their sessions into the database of a platform, as if they had signed in. */
export class TestPeople {
  readonly database: Database;
  protected readonly platform: TestOrgAccess;

  constructor(platform: TestOrgAccess, database: Database) {
    this.platform = platform;
    this.database = database;
  }

  static async open<People extends TestPeople>(
    this: new (
      platform: TestOrgAccess,
      database: Database,
    ) => People,
    platform: TestOrgAccess,
  ): Promise<People> {
    const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
    return new this(
      platform,
      await openDatabase({ connectionString: platform.database.url, poolSize: 4, migrationsDir }),
    );
  }

  close(): Promise<void> {
    return this.database.close();
  }

  async addPerson(email = `${uuidv7()}@example.com`): Promise<string> {
    const id = uuidv7();
    await this.database.prisma.person.create({ data: { id, email, fullName: 'Ada Lovelace' } });
    return id;
  }

  /** @returns the id of a new organization with a workspace */
  async addOrganization(displayName = 'Acme'): Promise<{ organizationId: string; workspaceId: string }> {
    const [organizationId, workspaceId] = [uuidv7(), uuidv7()];
    await this.database.prisma.organization.create({ data: { id: organizationId, displayName } });
    await this.database.prisma.workspace.create({ data: { id: workspaceId, organizationId, displayName: 'First' } });
    return { organizationId, workspaceId };
  }

  /**
   * Makes a person a member with roles that were given by hand.
   *
   * @param options.isAccepted false for somebody who never took the membership up
   * @returns the identity's id
   */
  async addMember(
    personId: string,
    organizationId: string,
    roles: readonly Pick<NewGrant, 'roleId' | 'workspaceId'>[],
    { isAccepted = true } = {},
  ): Promise<string> {
    const identityId = uuidv7();
    await this.database.transact(async (transaction) => {
      await transaction.identity.create({
        data: {
          id: identityId,
          organizationId,
          kind: 'person',
          personId,
          isAccepted,
          name: 'Ada Lovelace',
          organizationRoleId: PLATFORM_ROLES.organizationViewer,
        },
      });
      const grants = roles.map((role) => ({ ...role, identityId, source: 'manual' as const, sourceId: null }));
      await addGrants(transaction, organizationId, grants);
      await applyGrants(transaction, organizationId, [identityId]);
    });
    return identityId;
  }

  signIn(personId: string, session: Partial<NewSession> = {}): Promise<{ id: string; token: string }> {
    const expiresAt = new Date(Date.now() + 3_600_000);
    return this.database.transact((transaction) =>
      openSession(transaction, { personId, loginId: null, expiresAt, address: null, userAgent: null, ...session }),
    );
  }
}
