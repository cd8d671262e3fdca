import { type Logger, PeriodicTask } from '@runyard/service-kit';
import type { Database } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import { samlOf } from './provider-configuration.ts';
import type { ProviderSources } from './provider-sources.ts';

const EVERY_MS = 10 * 60_000;
const AGE_MAX_MS = 24 * 3_600_000;
/** Providers of one round; the others wait for the next one. */
const ROUND_MAX = 100;

/** Fetches the metadata of SAML providers daily, because their certificates change. The last one stays when it fails. */
export class MetadataRefresher {
  readonly #database: Database;
  readonly #sources: ProviderSources;
  readonly #logger: Logger;
  readonly #task: PeriodicTask;

  constructor(options: { database: Database; sources: ProviderSources; logger: Logger }) {
    this.#database = options.database;
    this.#sources = options.sources;
    this.#logger = options.logger;
    this.#task = new PeriodicTask({
      name: 'metadata of identity providers',
      everyMs: EVERY_MS,
      run: () => this.refresh(),
      logger: options.logger,
    });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async refresh(): Promise<void> {
    const old = { lt: new Date(Date.now() - AGE_MAX_MS) };
    const providers = await this.#database.prisma.ssoProvider.findMany({
      where: { protocol: 'saml', isEnabled: true, metadataFetchedAt: old },
      orderBy: { metadataFetchedAt: 'asc' },
      take: ROUND_MAX,
    });
    for (const { id, updatedAt, configuration } of providers) {
      const saml = samlOf({ configuration });
      if (saml.metadataUrl === null) continue;
      try {
        const { xml, entityId } = await this.#sources.readMetadata({ metadata_url: saml.metadataUrl });
        await this.#database.prisma.ssoProvider.updateMany({
          // A change by an administrator in the meantime has fetched it itself.
          where: { id, updatedAt },
          data: {
            metadata: xml,
            metadataFetchedAt: new Date(),
            configuration: { ...saml, entityId } as unknown as Prisma.InputJsonObject,
          },
        });
      } catch (error) {
        this.#logger.warn('fetching the metadata of an identity provider failed, will retry', {
          providerId: id,
          error,
        });
      }
    }
  }
}
