import { isAdministered, lockAdministrators } from '../access/administrators.ts';
import { lockPerson } from '../access/credentials/lock-people.ts';
import { PLATFORM_ROLES } from '../access/platform-roles.ts';
import { lockGrantableRoles } from '../access/role-authority.ts';
import { addGrants, applyGrants, type NewGrant } from '../access/role-grants.ts';
import { type AuditRecorder, audited } from '../audit/audit-trail.ts';
import { actAs } from '../audit/change-origin.ts';
import type { Database } from '../database/database.ts';
import { isTaken } from '../database/is-taken.ts';
import { claimInvite, findPendingInvite, type InviteWithWorkspaces } from '../directory/invites/claim-invite.ts';
import { provisionMember } from '../directory/members/provision-member.ts';
import { addressState } from '../directory/people/address-ownership.ts';
import { normalizeEmail } from '../directory/people/normalize-email.ts';
import type { Identity, Organization, Prisma, SsoProvider } from '../generated/client.ts';
import { decideSignIn, type SignInDecision, type SignInFacts } from './decision.ts';
import { findPerson, type KnownPerson, rememberLogin, type VerifiedLogin } from './find-login.ts';

/** The outcome of a sign-in. A denied stranger leaves nothing but an event of the audit trail. */
export type SsoSignIn<Admission> =
  | { decision: SignInDecision & { outcome: 'denied' } }
  | {
      decision: Exclude<SignInDecision, { outcome: 'denied' }>;
      personId: string;
      /** The identity in the provider's organization. */
      identityId: string;
      /** The result of the work for a person who was let in. */
      admission: Admission;
    };

interface AdmittedPerson {
  personId: string;
  loginId: string;
  identityId: string;
  /** True when this sign-in made the person a member. */
  isNew: boolean;
}

/** More to do in the same transaction for a person who was let in, for example to open a session. */
export type OnAdmitted<Admission> = (
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  admitted: AdmittedPerson,
) => Promise<Admission>;

/** The facts of the decision did not last until the change was made. */
class ChangedMeanwhileError extends Error {}

/** Further sign-ins of the same person, and withdrawn invites, may come in between this often. */
const ATTEMPTS_MAX = 4;

/** Sign-in by the identity provider of an organization, from the verified answer to the person's identity. */
export class SsoSignInService {
  readonly #database: Database;
  readonly #installationAllowsJit: boolean;
  readonly #initialAdministrator: string | null;

  /**
   * @param options.installationAllowsJit `SELF_HOSTED_JIT_PROVISIONING_ENABLED`
   * @param options.initialAdministrator address of `INITIAL_ORG_ADMIN_EMAIL`
   */
  constructor(options: {
    database: Database;
    installationAllowsJit: boolean;
    initialAdministrator?: string | undefined;
  }) {
    this.#database = options.database;
    this.#installationAllowsJit = options.installationAllowsJit;
    this.#initialAdministrator = options.initialAdministrator ? normalizeEmail(options.initialAdministrator) : null;
  }

  /**
   * Decides about the sign-in, does what the decision says, and records it, all in one transaction. Of two first sign-ins
   * at once one provisions the person, and the other finds the identity.
   */
  async signIn<Admission>(login: VerifiedLogin, onAdmitted: OnAdmitted<Admission>): Promise<SsoSignIn<Admission>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#database.transact(
          audited((transaction, audit) => this.#attempt(transaction, audit, login, onAdmitted)),
        );
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || !(error instanceof ChangedMeanwhileError || isTaken(error))) throw error;
      }
    }
  }

  async #attempt<Admission>(
    transaction: Prisma.TransactionClient,
    audit: AuditRecorder,
    login: VerifiedLogin,
    onAdmitted: OnAdmitted<Admission>,
  ): Promise<SsoSignIn<Admission>> {
    const { organizationId } = login.provider;
    const organization = await transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
    // The roles of groups, and of the first administrator, follow after the identity is locked.
    const isNamed = organization.isDefault && normalizeEmail(login.email) === this.#initialAdministrator;
    if (login.provider.groupsEnabled || isNamed) await lockAdministrators(transaction, organizationId);
    const isInitialAdministrator = isNamed && !(await isAdministered(transaction, organizationId));
    const known = await findPerson(transaction, login);
    const identity = await lockIdentity(transaction, organizationId, known.person?.id);
    const invite = await findPendingInvite(transaction, organizationId, normalizeEmail(login.email));
    const isFirst = known.person !== null && known.login === null;
    const isClaimed = isFirst && (await addressState(transaction, known.person!.id)) === 'claimed';
    const rest = { isInitialAdministrator, hasPendingInvite: invite !== null };
    const decision = this.#decide(organization, login, known, identity, rest);
    const details = {
      ...decision,
      providerId: login.provider.id,
      email: normalizeEmail(login.email),
      ...(isClaimed && organization.isDefault && { replacesUnprovenAccount: true }),
      ...(isInitialAdministrator && { isInitialAdministrator }),
    };
    if (decision.outcome === 'denied') {
      audit.record(organizationId, {
        action: 'sign_in.denied',
        resourceType: 'person',
        resourceId: known.person?.id ?? null,
        details,
      });
      return { decision };
    }
    const { personId, loginId } = await rememberLogin(transaction, login, known, {
      isEmailVerified: organization.isDefault,
    });
    return actAs({ actorKind: 'person', actorId: personId, credentialId: null }, async () => {
      const person = { id: personId, name: login.fullName ?? login.email };
      const identityId =
        identity?.id ?? (await addMember(transaction, audit, login.provider, invite, decision, person));
      if (isInitialAdministrator)
        await makeAdministrator(transaction, audit, organizationId, { identityId, isNew: identity === null });
      audit.record(organizationId, {
        action: 'sign_in.allowed',
        resourceType: 'person',
        resourceId: personId,
        details: { ...details, identityId },
      });
      const admitted = { personId, loginId, identityId, isNew: identity === null };
      const admission = await onAdmitted(transaction, audit, admitted);
      return { decision, personId, identityId, admission };
    });
  }

  #decide(
    organization: Organization,
    { isWithoutRequiredGroup = false }: VerifiedLogin,
    { isOtherAccount }: KnownPerson,
    identity: Pick<Identity, 'disabledAt'> | null,
    rest: Pick<SignInFacts, 'hasPendingInvite' | 'isInitialAdministrator'>,
  ): SignInDecision {
    return decideSignIn({
      identity: !identity ? 'none' : identity.disabledAt ? 'disabled' : 'active',
      isOtherAccount,
      isWithoutRequiredGroup,
      ...rest,
      isDefaultOrganization: organization.isDefault,
      jitProvisioningEnabled: organization.jitProvisioningEnabled,
      invitesEnabled: organization.invitesEnabled,
      installationAllowsJit: this.#installationAllowsJit,
    });
  }
}

/** Makes a person a member, as an invite or the provider's defaults say. */
async function addMember(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  provider: SsoProvider,
  invite: InviteWithWorkspaces | null,
  { outcome }: SignInDecision,
  person: { id: string; name: string },
): Promise<string> {
  const identityId =
    outcome === 'invite_claimed'
      ? await claimInvite(transaction, audit, invite!, { ...person, isAccepted: false })
      : await provisionMember(transaction, audit, {
          organizationId: provider.organizationId,
          personId: person.id,
          name: person.name,
          isAccepted: false,
          grants: await defaultGrants(transaction, provider),
        });
  if (identityId === null) throw new ChangedMeanwhileError('The invite was used or withdrawn meanwhile.');
  return identityId;
}

/** Makes the person whom the installation names its first administrator. */
async function makeAdministrator(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  { identityId, isNew }: { identityId: string; isNew: boolean },
): Promise<void> {
  const roleId = PLATFORM_ROLES.organizationAdmin;
  const grant = { identityId, workspaceId: null, roleId, source: 'bootstrap', sourceId: null } as const;
  await addGrants(transaction, organizationId, [grant]);
  await applyGrants(transaction, organizationId, [identityId], { areNew: isNew });
  audit.record(organizationId, {
    action: 'member.made_initial_administrator',
    resourceType: 'identity',
    resourceId: identityId,
    after: { organizationRoleId: roleId },
  });
}

/** Keeps others from ending what the person and the identity may do until the session is open: they end it afterwards. */
async function lockIdentity(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  personId: string | undefined,
): Promise<{ id: string; disabledAt: Date | null } | null> {
  if (personId === undefined) return null;
  const [identity] = await transaction.$queryRaw<{ id: string; disabledAt: Date | null }[]>`
    SELECT id::text, disabled_at AS "disabledAt" FROM identity
    WHERE organization_id = ${organizationId}::uuid AND person_id = ${personId}::uuid AND NOT is_removed FOR UPDATE`;
  await lockPerson(transaction, personId);
  return identity ?? null;
}

/**
 * The roles of people whom the provider's organization provisions at sign-in. Deleted workspaces are left out; a role
 * that is gone becomes Editor.
 */
async function defaultGrants(
  transaction: Prisma.TransactionClient,
  { id, organizationId, defaultWorkspaceIds, defaultWorkspaceRoleId }: SsoProvider,
): Promise<Omit<NewGrant, 'identityId'>[]> {
  const workspaces = await transaction.workspace.findMany({
    where: { organizationId, id: { in: defaultWorkspaceIds }, deletedAt: null },
    select: { id: true },
  });
  const role = (await lockGrantableRoles(transaction, organizationId)).get(defaultWorkspaceRoleId);
  const roleId = role?.accessScope === 'workspace' ? role.id : PLATFORM_ROLES.workspaceEditor;
  const grant = { source: 'jit' as const, sourceId: id };
  return [
    { ...grant, workspaceId: null, roleId: PLATFORM_ROLES.organizationUser },
    ...workspaces.map((workspace) => ({ ...grant, workspaceId: workspace.id, roleId })),
  ];
}
