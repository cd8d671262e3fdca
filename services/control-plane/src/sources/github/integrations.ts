import type {
  GithubIntegration,
  GithubIntegrationCreate,
  GithubRepository,
  GitServerType,
  SourceConfig,
} from '@runyard/contracts';
import { invalidSource, type RolloutRevision } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import { checkRepositoryUrl, type RepositoryListing, type RepositoryRules } from '@runyard/git-servers';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { BadRequestError, NotFoundError, type Principal, type Tenant, tenantOf } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Queries } from '../../database/database.ts';
import type { GithubIntegration as IntegrationRow } from '../../generated/client.ts';

/** Manages tokens for private repositories: each belongs to one workspace and is sent to one server only. */
export class GithubIntegrations {
  readonly #database: Database;
  readonly #cipher: Cipher;
  readonly #rules: RepositoryRules;
  readonly #listing: Pick<RepositoryListing, 'list'>;

  constructor(options: {
    database: Database;
    cipher: Cipher;
    rules: RepositoryRules;
    listing: Pick<RepositoryListing, 'list'>;
  }) {
    this.#database = options.database;
    this.#cipher = options.cipher;
    this.#rules = options.rules;
    this.#listing = options.listing;
  }

  async list(caller: Principal): Promise<GithubIntegration[]> {
    const where = tenantOf(caller);
    return (await this.#database.prisma.githubIntegration.findMany({ where, orderBy: { createdAt: 'asc' } })).map(
      viewOf,
    );
  }

  async create(
    caller: Principal,
    { name, url, token, server_type }: GithubIntegrationCreate,
    keyed?: KeyedRequest,
  ): Promise<GithubIntegration> {
    const tenant = tenantOf(caller);
    const address = checkRepositoryUrl(url, { ...this.#rules, allowsLocal: false });
    if (typeof address === 'string' || address.pathname !== '/' || address.search !== '' || address.hash !== '') {
      throw new BadRequestError('The URL of an integration is https://host, without a path.');
    }
    if (address.protocol === 'http:' && !this.#rules.allowedNetworks?.length) {
      throw new BadRequestError('The URL of an integration is https://host: its token is not sent in the clear.');
    }
    if (/[\r\n]/.test(token)) throw new BadRequestError('A token is one line.');
    const id = uuidv7();
    const encryptedToken = this.#cipher.encrypt(token, place(id));
    const serverType = server_type ?? null;
    const data = { ...tenant, id, name, url: address.origin, serverType, encryptedToken, createdBy: caller.identity };
    return this.#database.transact(
      withIdempotencyKey(keyed, async (queries) => viewOf(await queries.githubIntegration.create({ data }))),
    );
  }

  async delete(caller: Principal, id: string): Promise<void> {
    const where = { ...tenantOf(caller), id };
    const { count } = await this.#database.prisma.githubIntegration.deleteMany({ where });
    if (count === 0) throw missing(id);
  }

  /** Deletes the integrations of a deleted workspace. */
  async deleteAll(tenant: Tenant): Promise<void> {
    await this.#database.prisma.githubIntegration.deleteMany({ where: tenant });
  }

  /**
   * Lists the repositories of an integration.
   *
   * @throws NotFoundError, and the errors of {@link RepositoryListing.list}
   */
  async repositories(caller: Principal, id: string, signal: AbortSignal): Promise<GithubRepository[]> {
    const where = { ...tenantOf(caller), id };
    const { prisma } = this.#database;
    const row = await prisma.githubIntegration.findFirst({ where });
    if (!row) throw missing(id);
    const known = row.serverType as GitServerType | null;
    const server = { url: row.url, type: known, token: this.#cipher.decrypt(row.encryptedToken, place(id)) };
    const { type, repositories } = await this.#listing.list(server, signal);
    if (known === null) await prisma.githubIntegration.updateMany({ where, data: { serverType: type } });
    return repositories.flatMap(({ id: number, name, owner, cloneUrl, defaultBranch }) => {
      // A repository without a branch cannot be deployed.
      if (defaultBranch === null || !URL.canParse(cloneUrl)) return [];
      // The URL keeps the integration's host, whatever the server calls itself, because the token is sent nowhere else.
      const url = new URL(new URL(cloneUrl).pathname, row.url).href;
      return [{ host_integration_id: id, id: number, name, owner, url, default_branch: defaultBranch }];
    });
  }

  /** Returns the token for a build's repository; null when the deployment names no integration. */
  async tokenOf(revision: RolloutRevision): Promise<string | null> {
    const { integration_id: id, repo_url: repoUrl } = revision.sourceConfig as SourceConfig;
    if (id == null || repoUrl == null) return null;
    const { deploymentId } = revision;
    const deployment = await this.#database.prisma.deployment.findUniqueOrThrow({ where: { id: deploymentId } });
    const { encryptedToken } = await requireIntegration(this.#database.prisma, deployment, id, repoUrl);
    return this.#cipher.decrypt(encryptedToken, place(id));
  }
}

/** @throws BadRequestError when the workspace has no such integration, or the repository is on another server */
export async function checkIntegration(queries: Queries, tenant: Tenant, id: string, repoUrl: string): Promise<void> {
  await requireIntegration(queries, tenant, id, repoUrl);
}

async function requireIntegration(
  queries: Queries,
  tenant: Tenant,
  id: string,
  repoUrl: string,
): Promise<IntegrationRow> {
  const { organizationId, workspaceId } = tenant;
  const row = await queries.githubIntegration.findFirst({ where: { id, organizationId, workspaceId } });
  if (!row) throw invalidSource(`there is no integration ${id} in this workspace`);
  if (!URL.canParse(repoUrl) || new URL(repoUrl).origin !== row.url) {
    throw invalidSource(`the integration ${id} is for repositories of ${row.url}`);
  }
  return row;
}

const viewOf = ({ id, installationId, name }: IntegrationRow): GithubIntegration => ({
  id,
  installation_id: installationId,
  name,
});

const place = (id: string) => `integration/${id}/token`;
const missing = (id: string) => new NotFoundError(`Integration ID ${id} not found.`);
