import { takeAdvisoryLock } from '@runyard/database';
import type { Cipher } from '@runyard/encryption';
import { v7 as uuidv7 } from 'uuid';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { ensureLoginSlug } from '../../directory/organizations/first-login-slug.ts';
import type { Prisma, SsoProvider } from '../../generated/client.ts';
import { clientSecretPlace, type OidcConfiguration } from './provider-configuration.ts';

/** The provider that the variables of the installation describe. */
export interface EnvironmentProviderSettings {
  clientSecret: string;
  configuration: OidcConfiguration;
}

const IS_FROM_ENVIRONMENT = { path: ['isFromEnvironment'], equals: true };

/**
 * Keeps the provider of the variables in the default organization: made, changed, and switched off when the variables are
 * gone. Its defaults are the oldest workspace and the role Editor, until an administrator changes them.
 */
export class EnvironmentProvider {
  readonly #database: Database;
  readonly #cipher: Cipher;
  readonly #settings: EnvironmentProviderSettings | null;

  constructor(options: { database: Database; cipher: Cipher; settings: EnvironmentProviderSettings | null }) {
    this.#database = options.database;
    this.#cipher = options.cipher;
    this.#settings = options.settings;
  }

  /** Idempotent, also for processes that start at once. Without a default organization it does nothing yet. */
  async ensure(): Promise<void> {
    await this.#database.transact(
      audited(async (transaction, audit) => {
        await takeAdvisoryLock(transaction, 'identity provider of the environment');
        const organization = await transaction.organization.findFirst({ where: { isDefault: true } });
        const known = await transaction.ssoProvider.findMany({ where: { configuration: IS_FROM_ENVIRONMENT } });
        const current = known.find(({ organizationId }) => organizationId === organization?.id);
        for (const each of known) {
          if (each.isEnabled && (each !== current || !this.#settings)) await switchOff(transaction, audit, each);
        }
        if (!this.#settings || !organization) return;
        if (current) await this.#update(transaction, audit, current, this.#settings);
        else await this.#create(transaction, audit, organization.id, this.#settings);
      }),
    );
  }

  async #create(
    transaction: Prisma.TransactionClient,
    audit: AuditRecorder,
    organizationId: string,
    { configuration, clientSecret }: EnvironmentProviderSettings,
  ): Promise<void> {
    const workspace = await transaction.workspace.findFirst({
      where: { organizationId, deletedAt: null },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    if (!workspace) return;
    const id = uuidv7();
    await transaction.ssoProvider.create({
      data: {
        id,
        organizationId,
        protocol: 'oidc',
        displayName: 'Single sign-on',
        defaultWorkspaceRoleId: PLATFORM_ROLES.workspaceEditor,
        defaultWorkspaceIds: [workspace.id],
        configuration: configuration as unknown as Prisma.InputJsonObject,
        encryptedClientSecret: this.#cipher.encrypt(clientSecret, clientSecretPlace(id)),
      },
    });
    await ensureLoginSlug(transaction, audit, organizationId);
    audit.record(organizationId, { ...resource(id), action: 'sso_provider.created', after: configuration });
  }

  async #update(
    transaction: Prisma.TransactionClient,
    audit: AuditRecorder,
    provider: SsoProvider,
    { configuration, clientSecret }: EnvironmentProviderSettings,
  ): Promise<void> {
    const place = clientSecretPlace(provider.id);
    const isSameSecret = this.#cipher.decrypt(provider.encryptedClientSecret ?? '', place) === clientSecret;
    const before = provider.configuration as unknown as OidcConfiguration;
    const names = Object.keys(configuration) as (keyof OidcConfiguration)[];
    if (isSameSecret && names.every((name) => before[name] === configuration[name])) return;
    await transaction.ssoProvider.update({
      where: { id: provider.id },
      data: {
        configuration: configuration as unknown as Prisma.InputJsonObject,
        encryptedClientSecret: this.#cipher.encrypt(clientSecret, place),
      },
    });
    audit.record(provider.organizationId, {
      ...resource(provider.id),
      action: 'sso_provider.updated',
      before,
      after: configuration,
      details: { isClientSecretChanged: !isSameSecret },
    });
  }
}

async function switchOff(transaction: Prisma.TransactionClient, audit: AuditRecorder, provider: SsoProvider) {
  await transaction.ssoProvider.update({ where: { id: provider.id }, data: { isEnabled: false } });
  audit.record(provider.organizationId, {
    ...resource(provider.id),
    action: 'sso_provider.updated',
    before: { isEnabled: true },
    after: { isEnabled: false },
  });
}

const resource = (id: string) => ({ resourceType: 'sso_provider', resourceId: id });
