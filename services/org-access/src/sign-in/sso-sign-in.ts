import { v7 as uuidv7 } from 'uuid';
import { PLATFORM_ROLES } from '../access/platform-roles.ts';
import type { NewGrant } from '../access/role-grants.ts';
import { type AuditRecorder, audited } from '../audit/audit-trail.ts';
import { actAs } from '../audit/change-origin.ts';
import type { Database } from '../database/database.ts';
import { isTaken } from '../database/is-taken.ts';
import type { Person, Prisma, SsoProvider } from '../generated/client.ts';
import { claimInvite, findPendingInvite } from '../invites/claim-invite.ts';
import { provisionMember } from '../members/provision-member.ts';
import { normalizeEmail } from '../people/normalize-email.ts';
import { peopleStore } from '../people/people-store.ts';
import { decideSignIn, type SignInDecision } from './decision.ts';

/** An identity provider's answer about a person, after it was verified. */
export interface VerifiedLogin {
  provider: SsoProvider;
  issuer: string;
  /** Never changes for a person; compared in lower case. */
  subject: string;
  /** Belongs to the person: verified by the provider, or the provider is trusted with it. */
  email: string;
  fullName: string | null;
}

export interface SsoSignIn {
  decision: SignInDecision;
  personId: string;
  loginId: string;
  /** The identity in the provider's organization; null when denied. */
  identityId: string | null;
}

/** Sign-in by the identity provider of an organization, from the verified answer to the person's identity. */
export class SsoSignInService {
  readonly #database: Database;
  readonly #installationAllowsJit: boolean;

  /** @param options.installationAllowsJit `SELF_HOSTED_JIT_PROVISIONING_ENABLED` */
  constructor(options: { database: Database; installationAllowsJit: boolean }) {
    this.#database = options.database;
    this.#installationAllowsJit = options.installationAllowsJit;
  }

  /**
   * Decides about the sign-in, does what the decision says, and records it, all in one transaction. Of two first sign-ins
   * at once one provisions the person, and the other finds the identity.
   */
  async signIn(
    login: VerifiedLogin,
    /** More to do in the same transaction for a person who was let in, for example the roles of groups. */
    onAdmitted: (
      transaction: Prisma.TransactionClient,
      audit: AuditRecorder,
      identityId: string,
    ) => Promise<void> = async () => undefined,
  ): Promise<SsoSignIn> {
    const attempt = () =>
      this.#database.transact(
        audited(async (transaction, audit) => {
          const result = await this.#decide(transaction, audit, login);
          if (result.identityId) await onAdmitted(transaction, audit, result.identityId);
          return result;
        }),
      );
    try {
      return await attempt();
    } catch (error) {
      if (!isTaken(error)) throw error;
      return attempt();
    }
  }

  async #decide(transaction: Prisma.TransactionClient, audit: AuditRecorder, login: VerifiedLogin): Promise<SsoSignIn> {
    const { provider } = login;
    const { organizationId } = provider;
    const { person, loginId } = await findOrCreateLogin(transaction, login);
    return actAs({ actorKind: 'person', actorId: person.id, credentialId: null }, async () => {
      const organization = await transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
      const identity = await transaction.identity.findFirst({
        where: { organizationId, personId: person.id, isRemoved: false },
      });
      const invite = await findPendingInvite(transaction, organizationId, normalizeEmail(login.email));
      const decision = decideSignIn({
        identity: !identity ? 'none' : identity.disabledAt ? 'disabled' : 'active',
        hasPendingInvite: invite !== null,
        isDefaultOrganization: organization.isDefault,
        jitProvisioningEnabled: organization.jitProvisioningEnabled,
        invitesEnabled: organization.invitesEnabled,
        installationAllowsJit: this.#installationAllowsJit,
      });
      const name = login.fullName ?? login.email;
      const identityId =
        decision.outcome === 'denied'
          ? null
          : decision.outcome === 'invite_claimed'
            ? await claimInvite(transaction, audit, invite!, { id: person.id, name })
            : decision.outcome === 'provisioned'
              ? await provisionMember(transaction, audit, {
                  organizationId,
                  personId: person.id,
                  name,
                  grants: await defaultGrants(transaction, provider),
                })
              : identity!.id;
      audit.record(organizationId, {
        action: decision.outcome === 'denied' ? 'sign_in.denied' : 'sign_in.allowed',
        resourceType: 'person',
        resourceId: person.id,
        details: { ...decision, providerId: provider.id, identityId },
      });
      return { decision, personId: person.id, loginId, identityId };
    });
  }
}

/** Finds the person of a login: by the login itself, by what SCIM said of it, or by the address. */
async function findOrCreateLogin(
  transaction: Prisma.TransactionClient,
  { provider, issuer, subject, email, fullName }: VerifiedLogin,
): Promise<{ person: Person; loginId: string }> {
  const key = { ssoProviderId: provider.id, issuer, subject: subject.toLowerCase() };
  const known = await transaction.login.findUnique({
    where: { ssoProviderId_issuer_subject: key },
    include: { person: true },
  });
  if (known) {
    await transaction.login.update({ where: { id: known.id }, data: { lastUsedAt: new Date(), email } });
    return { person: known.person, loginId: known.id };
  }
  const provisioned = await transaction.scimUser.findFirst({
    where: { organizationId: provider.organizationId, externalId: { equals: subject, mode: 'insensitive' } },
    include: { identity: { include: { person: true } } },
  });
  const person =
    provisioned?.identity.person ??
    (await peopleStore.findOrCreate(transaction, { email, fullName, isEmailVerified: true }));
  const { id: loginId } = await transaction.login.create({
    data: {
      ...key,
      id: uuidv7(),
      personId: person.id,
      provider: provider.protocol === 'saml' ? 'supabase:sso' : 'custom-oidc',
      email,
      provisioning: provisioned ? 'scim' : provider.protocol === 'saml' ? 'saml:jit' : 'oidc:jit',
      lastUsedAt: new Date(),
    },
  });
  return { person, loginId };
}

/** The roles of people whom the provider's organization provisions at sign-in; deleted workspaces are left out. */
async function defaultGrants(
  transaction: Prisma.TransactionClient,
  { id, organizationId, defaultWorkspaceIds, defaultWorkspaceRoleId }: SsoProvider,
): Promise<Omit<NewGrant, 'identityId'>[]> {
  const workspaces = await transaction.workspace.findMany({
    where: { organizationId, id: { in: defaultWorkspaceIds }, deletedAt: null },
    select: { id: true },
  });
  const grant = { source: 'jit' as const, sourceId: id };
  return [
    { ...grant, workspaceId: null, roleId: PLATFORM_ROLES.organizationUser },
    ...workspaces.map((workspace) => ({ ...grant, workspaceId: workspace.id, roleId: defaultWorkspaceRoleId })),
  ];
}
