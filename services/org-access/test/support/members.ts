import { v7 as uuidv7 } from 'uuid';
import { makeKey } from '../../src/access/credentials/key-format.ts';
import type { GrantSource } from '../../src/access/effective-roles.ts';
import { PLATFORM_ROLES } from '../../src/access/platform-roles.ts';
import { audited } from '../../src/audit/audit-trail.ts';
import { hashSecret } from '../../src/database/hash-secret.ts';
import { provisionMember } from '../../src/directory/members/provision-member.ts';
import { TestPeople } from './people.ts';

export interface TestMember {
  personId: string;
  identityId: string;
  email: string;
  /** A personal access token. */
  token: string;
}

/** Makes people members of an organization, as sign-in does, and opens their tokens. */
export class TestMembers extends TestPeople {
  /** @param member.workspaces role ids by workspace id */
  async add(
    member: {
      name?: string;
      organizationRole?: keyof typeof PLATFORM_ROLES;
      workspaces?: Record<string, string>;
      source?: GrantSource;
      sourceId?: string;
    } = {},
  ): Promise<TestMember> {
    const organizationId = this.platform.bootstrap.organization_id;
    const { name = 'Ada', organizationRole = 'organizationUser', workspaces = {}, source = 'manual' } = member;
    const personId = uuidv7();
    const email = `${name.toLowerCase().replaceAll(' ', '.')}-${personId}@example.com`;
    const origin = { source, sourceId: member.sourceId ?? null };
    const identityId = await this.database.transact(
      audited(async (transaction, audit) => {
        await transaction.person.create({ data: { id: personId, email, fullName: name } });
        const grants = [
          { workspaceId: null, roleId: PLATFORM_ROLES[organizationRole], ...origin },
          ...Object.entries(workspaces).map(([workspaceId, roleId]) => ({ workspaceId, roleId, ...origin })),
        ];
        return provisionMember(transaction, audit, { organizationId, personId, name, isAccepted: true, grants });
      }),
    );
    return { personId, identityId, email, token: await this.issueToken(identityId) };
  }

  async issueToken(identityId: string): Promise<string> {
    const key = makeKey('personal_token');
    await this.database.prisma.apiKey.create({
      data: {
        id: uuidv7(),
        organizationId: this.platform.bootstrap.organization_id,
        identityId,
        kind: 'personal_token',
        keySha256: hashSecret(key),
        shortKey: 'lsv2_pt_…',
        description: 'test',
      },
    });
    return key;
  }

  /** Returns the actions of the audit trail about a resource, the oldest first. */
  async actions(resourceId: string): Promise<string[]> {
    const events = await this.database.prisma.auditEvent.findMany({
      where: { organizationId: this.platform.bootstrap.organization_id, resourceId },
      orderBy: { sequence: 'asc' },
    });
    return events.map(({ action }) => action);
  }
}
