import type { OrganizationCreate, OrganizationPlan, Organization as RenderedOrganization } from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ConflictError, ForbiddenError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { identitiesInReach } from '../../access/credentials/reach.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database, Queries } from '../../database/database.ts';
import type { Organization, Prisma } from '../../generated/client.ts';
import { provisionMember } from '../members/provision-member.ts';
import { createFirstWorkspace } from '../workspaces/first-workspace.ts';
import { renderOrganization } from './render-organization.ts';

export interface OrganizationCreationRules {
  /** `FF_ORG_CREATION_DISABLED` */
  isCreationDisabled: boolean;
  /** `PERSONAL_ORGS_DISABLED` */
  arePersonalDisabled: boolean;
  /** The plan of new organizations. */
  plan: OrganizationPlan;
}

/** Lists and makes the organizations of a signed-in person. */
export class MyOrganizationsService {
  readonly #database: Database;
  readonly #rules: OrganizationCreationRules;

  constructor(options: { database: Database; rules: OrganizationCreationRules }) {
    this.#database = options.database;
    this.#rules = options.rules;
  }

  /** Makes a personal organization for a person without any, unless these are disabled or the request says not to. */
  async list(
    caller: Principal,
    query: { skip_create: boolean; include_tier: boolean },
  ): Promise<RenderedOrganization[]> {
    const personId = caller.personId!;
    const ssoOrganizationId = await ssoOrganizationOf(this.#database.prisma, caller);
    let found = await this.#find(personId, ssoOrganizationId);
    const mayCreate = !query.skip_create && !this.#rules.arePersonalDisabled && ssoOrganizationId === null;
    if (found.length === 0 && mayCreate) {
      await this.#database.transact(
        audited((transaction, audit) => ensurePersonalOrganization(transaction, audit, personId, this.#rules.plan)),
      );
      found = await this.#find(personId, ssoOrganizationId);
    }
    return found.map((organization) => renderOrganization(organization, { withTier: query.include_tier }));
  }

  async create(caller: Principal, body: OrganizationCreate, keyed?: KeyedRequest): Promise<RenderedOrganization> {
    const personId = caller.personId!;
    const isDisabled = body.is_personal ? this.#rules.arePersonalDisabled : this.#rules.isCreationDisabled;
    if (isDisabled)
      throw new ForbiddenError(`${body.is_personal ? 'Personal organizations' : 'New organizations'} are disabled`, {
        code: 'organization_creation_disabled',
      });
    if ((await ssoOrganizationOf(this.#database.prisma, caller)) !== null)
      throw new ForbiddenError("Sessions of an organization's identity provider make no organizations", {
        code: 'organization_creation_disabled',
      });
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          await lockPerson(transaction, personId);
          if (body.is_personal && (await findPersonal(transaction, personId)))
            throw new ConflictError('You have a personal organization already', {
              code: 'personal_organization_exists',
              headers: { 'x-should-retry': 'false' },
            });
          const created = await createOrganization(transaction, audit, personId, {
            displayName: body.display_name,
            isPersonal: body.is_personal,
            securityContact: body.security_contact?.trim() || null,
            plan: this.#rules.plan,
          });
          return renderOrganization(created);
        }),
      ),
    );
  }

  #find(personId: string, ssoOrganizationId: string | null): Promise<Organization[]> {
    const identities = { some: { AND: [identitiesInReach({ personId, ssoOrganizationId }), { disabledAt: null }] } };
    return this.#database.prisma.organization.findMany({
      where: { identities },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
  }
}

/** Returns the only organization in which the session may act; null when it may act in all of the person's. */
async function ssoOrganizationOf(queries: Queries, { sessionId }: Principal): Promise<string | null> {
  const session = sessionId ? await queries.session.findUnique({ where: { id: sessionId } }) : null;
  return session?.ssoOrganizationId ?? null;
}

const lockPerson = (transaction: Prisma.TransactionClient, personId: string) =>
  takeAdvisoryLock(transaction, `organizations of ${personId}`);

function findPersonal(transaction: Prisma.TransactionClient, personId: string): Promise<Organization | null> {
  return transaction.organization.findFirst({
    where: { isPersonal: true, identities: { some: { personId, isRemoved: false } } },
  });
}

async function ensurePersonalOrganization(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  personId: string,
  plan: OrganizationPlan,
): Promise<void> {
  await lockPerson(transaction, personId);
  if (await findPersonal(transaction, personId)) return;
  const settings = { displayName: 'Personal', isPersonal: true, securityContact: null, plan };
  await createOrganization(transaction, audit, personId, settings);
}

/** Makes an organization that the person administers, with its first workspace. */
async function createOrganization(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  personId: string,
  settings: { displayName: string; isPersonal: boolean; securityContact: string | null; plan: OrganizationPlan },
): Promise<Organization> {
  const person = await transaction.person.findUniqueOrThrow({ where: { id: personId } });
  const created = await transaction.organization.create({ data: { ...settings, id: uuidv7() } });
  const { id: organizationId } = created;
  audit.record(organizationId, {
    action: 'organization.created',
    resourceType: 'organization',
    resourceId: organizationId,
    after: settings,
  });
  await createFirstWorkspace(transaction, audit, organizationId);
  await provisionMember(transaction, audit, {
    organizationId,
    personId,
    name: person.fullName ?? person.email,
    isAccepted: true,
    grants: [{ workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin, source: 'manual', sourceId: null }],
  });
  return created;
}
