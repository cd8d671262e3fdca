import type { SsoSettings, SsoSettingsCreate, SsoSettingsUpdate } from '@runyard/contracts';
import type { Cipher } from '@runyard/encryption';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ConflictError, InvalidFieldError, NotFoundError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { endSessions } from '../../access/credentials/end-sessions.ts';
import { requireOrganizationAdministrator } from '../../access/require-administrator.ts';
import { lockGrantableRoles } from '../../access/role-authority.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { ensureLoginSlug } from '../../directory/organizations/first-login-slug.ts';
import type { Prisma } from '../../generated/client.ts';
import type { SsoUrls } from '../../sso-urls.ts';
import { normalizeDomain, requireVerifiedDomain } from './email-domains.ts';
import { clientSecretPlace, oidcOf } from './provider-configuration.ts';
import {
  type Connection,
  fetchMetadata,
  mergeConnection,
  needsOwnCallback,
  requireProtocol,
} from './provider-settings.ts';
import type { ProviderSources } from './provider-sources.ts';
import { type ProviderWithDomains, renderProvider } from './provider-view.ts';

/** A SAML response that nobody asked for is checked with each provider of its issuer, and anybody may send one. */
const PROVIDERS_MAX = 20;
/** Fields that the variables decide on for a provider that comes from them. */
const ENVIRONMENT_FIELDS = ['issuer_url', 'client_id', 'client_secret', 'scopes', 'logout_at_provider'];

/** Reads and changes the identity providers of organizations, for their administrators. */
export class SsoProviderService {
  readonly #database: Database;
  readonly #cipher: Cipher;
  readonly #sources: ProviderSources;
  readonly #urls: SsoUrls;

  constructor(options: { database: Database; cipher: Cipher; sources: ProviderSources; urls: SsoUrls }) {
    this.#database = options.database;
    this.#cipher = options.cipher;
    this.#sources = options.sources;
    this.#urls = options.urls;
  }

  async list(caller: Principal): Promise<SsoSettings[]> {
    requireAdministrator(caller);
    const rows = await this.#database.prisma.ssoProvider.findMany({
      where: { organizationId: caller.organizationId },
      include: { domains: true },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    return rows.map((row) => renderProvider(row, this.#urls));
  }

  async create(caller: Principal, body: SsoSettingsCreate, keyed?: KeyedRequest): Promise<SsoSettings> {
    requireAdministrator(caller);
    const { organizationId } = caller;
    requireProtocol(body, undefined);
    const fetched = await fetchMetadata(body, this.#sources);
    const connection = mergeConnection(body, null, this.#sources, fetched);
    const domains = await this.#readDomains(organizationId, body.email_domains ?? []);
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          await lock(transaction, organizationId);
          if ((await transaction.ssoProvider.count({ where: { organizationId } })) >= PROVIDERS_MAX)
            throw tooManyProviders();
          await requireDefaults(transaction, organizationId, body);
          const id = uuidv7();
          const provider = await transaction.ssoProvider.create({
            data: {
              ...this.#columns(id, body, connection),
              id,
              organizationId,
              protocol: connection.protocol,
              hasOwnCallback: connection.protocol === 'oidc',
              displayName: body.display_name ?? 'Single sign-on',
              defaultWorkspaceRoleId: body.default_workspace_role_id,
              defaultWorkspaceIds: body.default_workspace_ids,
              configuration: connection.configuration as unknown as Prisma.InputJsonObject,
              domains: { create: domains.map((domain) => ({ domain })) },
            },
            include: { domains: true },
          });
          await ensureLoginSlug(transaction, audit, organizationId);
          return this.#record(audit, 'sso_provider.created', null, provider);
        }),
      ),
    );
  }

  async update(caller: Principal, id: string, body: SsoSettingsUpdate): Promise<SsoSettings> {
    requireAdministrator(caller);
    const { organizationId } = caller;
    const known = await findProvider(this.#database.prisma, organizationId, id);
    if (known.protocol === 'oidc' && oidcOf(known).isFromEnvironment) {
      if (ENVIRONMENT_FIELDS.some((field) => field in body)) throw fromEnvironment();
    }
    requireProtocol(body, known.protocol);
    const fetched = await fetchMetadata(body, this.#sources);
    const domains = body.email_domains && (await this.#readDomains(organizationId, body.email_domains));
    return this.#database.transact(
      audited(async (transaction, audit) => {
        await lock(transaction, organizationId);
        const before = await findProvider(transaction, organizationId, id);
        await requireDefaults(transaction, organizationId, body);
        // Merged under the lock: what somebody else changed since it was read stays.
        const connection = mergeConnection(body, before, this.#sources, fetched);
        const provider = await transaction.ssoProvider.update({
          where: { id },
          data: {
            ...this.#columns(id, body, connection),
            hasOwnCallback: needsOwnCallback(body, before),
            ...(domains && {
              domains: { deleteMany: {}, create: domains.map((domain) => ({ domain })) },
            }),
          },
          include: { domains: true },
        });
        if (before.isEnabled && !provider.isEnabled) {
          await requireAnotherProvider(transaction, organizationId, id);
          await endSessions(transaction, { ssoProviderId: id }, 'disabled');
        }
        return this.#record(audit, 'sso_provider.updated', before, provider);
      }),
    );
  }

  /** Removes a provider, with the logins of people there. What people were given stays theirs. */
  async delete(caller: Principal, id: string): Promise<SsoSettings> {
    requireAdministrator(caller);
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        await lock(transaction, organizationId);
        const provider = await findProvider(transaction, organizationId, id);
        if (provider.protocol === 'oidc' && oidcOf(provider).isFromEnvironment) throw fromEnvironment();
        await requireAnotherProvider(transaction, organizationId, id);
        await endSessions(transaction, { ssoProviderId: id }, 'removed');
        await transaction.ssoProvider.delete({ where: { id } });
        const rendered = renderProvider(provider, this.#urls);
        audit.record(organizationId, { ...resource(id), action: 'sso_provider.deleted', before: auditable(rendered) });
        return rendered;
      }),
    );
  }

  #columns(id: string, body: SsoSettingsUpdate, { configuration, metadata }: Connection) {
    const secret = body.client_secret;
    return {
      displayName: body.display_name,
      isEnabled: body.is_enabled,
      defaultWorkspaceRoleId: body.default_workspace_role_id,
      defaultWorkspaceIds: body.default_workspace_ids,
      attributeMapping: body.attribute_mapping,
      isEmailTrusted: body.is_email_trusted,
      groupsEnabled: body.sso_groups_enabled,
      groupsClaim: body.sso_groups_claim_field,
      groupsRequired: body.sso_groups_required,
      groupsRoleSyncEnabled: body.sso_groups_role_sync_enabled,
      configuration: configuration as unknown as Prisma.InputJsonObject,
      ...(metadata !== undefined && {
        metadata,
        // Metadata that was given as text is never fetched again.
        metadataFetchedAt: 'metadataUrl' in configuration && configuration.metadataUrl !== null ? new Date() : null,
      }),
      ...(secret !== undefined && { encryptedClientSecret: this.#cipher.encrypt(secret, clientSecretPlace(id)) }),
    };
  }

  async #readDomains(organizationId: string, texts: readonly string[]): Promise<string[]> {
    const domains = [...new Set(texts.map(normalizeDomain))];
    const { isDefault } = await this.#database.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } });
    // Administrators of the default organization run the installation.
    if (!isDefault) for (const domain of domains) await requireVerifiedDomain(domain, organizationId);
    return domains;
  }

  #record(audit: AuditRecorder, action: string, before: ProviderWithDomains | null, after: ProviderWithDomains) {
    const rendered = renderProvider(after, this.#urls);
    audit.record(after.organizationId, {
      ...resource(after.id),
      action,
      before: before && auditable(renderProvider(before, this.#urls)),
      after: auditable(rendered),
      details: { isClientSecretChanged: before?.encryptedClientSecret !== after.encryptedClientSecret },
    });
    return rendered;
  }
}

const resource = (id: string) => ({ resourceType: 'sso_provider', resourceId: id });

/** Leaves the metadata out of an audit event: it is long, and the address or the entity id says which it is. */
function auditable({ metadata_xml: xml, ...provider }: SsoSettings): object {
  return { ...provider, has_metadata_xml: xml !== null };
}

function requireAdministrator(caller: Principal): void {
  requireOrganizationAdministrator(caller, 'set up single sign-on');
}

/** @throws NotFoundError also for a provider of another organization */
export async function findProvider(
  queries: Pick<Prisma.TransactionClient, 'ssoProvider'>,
  organizationId: string,
  id: string,
): Promise<ProviderWithDomains> {
  const provider = await queries.ssoProvider.findFirst({
    where: { organizationId, id: id.toLowerCase() },
    include: { domains: true },
  });
  if (!provider) throw new NotFoundError('Identity provider not found', { code: 'sso_provider_not_found' });
  return provider;
}

/** Changes of an organization's providers, and its `sso_only`, wait for each other. */
async function lock(transaction: Prisma.TransactionClient, organizationId: string): Promise<void> {
  await transaction.$queryRaw`SELECT id FROM organization WHERE id = ${organizationId}::uuid FOR UPDATE`;
}

async function requireAnotherProvider(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  id: string,
): Promise<void> {
  const { ssoOnly } = await transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
  if (!ssoOnly) return;
  const others = await transaction.ssoProvider.count({ where: { organizationId, isEnabled: true, id: { not: id } } });
  if (others > 0) return;
  throw new ConflictError('The organization is sso_only and has no other identity provider', {
    code: 'sso_provider_required',
  });
}

/** Requires the default role to be one of workspaces, and the default workspaces to exist. */
async function requireDefaults(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  { default_workspace_role_id: roleId, default_workspace_ids: workspaceIds }: SsoSettingsUpdate,
): Promise<void> {
  const unknown = (field: string, message: string) =>
    new InvalidFieldError(['body', field], message, { code: 'role_or_workspace_unknown' });
  if (roleId !== undefined) {
    const role = (await lockGrantableRoles(transaction, organizationId)).get(roleId.toLowerCase());
    if (role?.accessScope !== 'workspace')
      throw unknown('default_workspace_role_id', `There is no workspace role ${roleId}.`);
  }
  if (workspaceIds !== undefined) {
    const live = await transaction.workspace.findMany({
      where: { organizationId, id: { in: workspaceIds }, deletedAt: null },
      select: { id: true },
    });
    const missing = workspaceIds.find((id) => !live.some((workspace) => workspace.id === id.toLowerCase()));
    if (missing !== undefined) throw unknown('default_workspace_ids', `There is no workspace ${missing}.`);
  }
}

function tooManyProviders(): InvalidFieldError {
  const message = `An organization has at most ${PROVIDERS_MAX} identity providers.`;
  return new InvalidFieldError(['body'], message, { code: 'sso_provider_invalid' });
}

function fromEnvironment(): ConflictError {
  return new ConflictError('The identity provider comes from the variables of the installation', {
    code: 'sso_provider_from_environment',
  });
}
