import type { IssuedScimToken, ScimToken, ScimTokenChange } from '@runyard/contracts';
import { NotFoundError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { requireOrganizationAdministrator } from '../../access/require-administrator.ts';
import { audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { ScimToken as StoredToken } from '../../generated/client.ts';
import { makeScimToken, shortenScimToken } from './scim-token-format.ts';

/** Manages the tokens of identity providers. Any number is valid at once, so that a new one replaces an old one without a gap. */
export class ScimTokenService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  /** @throws ForbiddenError unless the caller administers the organization */
  async create(caller: Principal, { description }: ScimTokenChange): Promise<IssuedScimToken> {
    requireOrganizationAdministrator(caller, 'manage SCIM tokens');
    const { organizationId } = caller;
    const token = makeScimToken();
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const row = await transaction.scimToken.create({
          data: {
            id: uuidv7(),
            organizationId,
            description,
            tokenSha256: hashSecret(token),
            shortToken: shortenScimToken(token),
            createdBy: caller.identity,
          },
        });
        audit.record(organizationId, {
          action: 'scim_token.created',
          resourceType: 'scim_token',
          resourceId: row.id,
          after: { description, shortToken: row.shortToken },
        });
        return { ...render(row), token };
      }),
    );
  }

  async list({ organizationId }: Principal): Promise<ScimToken[]> {
    const rows = await this.#database.prisma.scimToken.findMany({
      where: { organizationId, revokedAt: null },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    });
    return rows.map(render);
  }

  async get({ organizationId }: Principal, id: string): Promise<ScimToken> {
    const row = await this.#database.prisma.scimToken.findFirst({ where: { organizationId, id, revokedAt: null } });
    if (!row) throw tokenNotFound();
    return render(row);
  }

  /** @throws ForbiddenError unless the caller administers the organization */
  async describe(caller: Principal, id: string, { description }: ScimTokenChange): Promise<ScimToken> {
    requireOrganizationAdministrator(caller, 'manage SCIM tokens');
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const before = await transaction.scimToken.findFirst({ where: { organizationId, id, revokedAt: null } });
        if (!before) throw tokenNotFound();
        const row = await transaction.scimToken.update({ where: { id }, data: { description } });
        audit.record(organizationId, {
          action: 'scim_token.updated',
          resourceType: 'scim_token',
          resourceId: id,
          before: { description: before.description },
          after: { description },
        });
        return render(row);
      }),
    );
  }

  /** @throws ForbiddenError unless the caller administers the organization */
  async revoke(caller: Principal, id: string): Promise<void> {
    requireOrganizationAdministrator(caller, 'manage SCIM tokens');
    const { organizationId } = caller;
    await this.#database.transact(
      audited(async (transaction, audit) => {
        const [revoked] = await transaction.scimToken.updateManyAndReturn({
          where: { organizationId, id, revokedAt: null },
          data: { revokedAt: new Date() },
          select: { description: true, shortToken: true },
        });
        if (!revoked) throw tokenNotFound();
        const about = { resourceType: 'scim_token', resourceId: id } as const;
        audit.record(organizationId, { action: 'scim_token.revoked', ...about, before: revoked });
      }),
    );
  }
}

function render(row: StoredToken): ScimToken {
  return {
    id: row.id,
    description: row.description,
    short_token: row.shortToken,
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function tokenNotFound(): NotFoundError {
  return new NotFoundError('SCIM token not found');
}
