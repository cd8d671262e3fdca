import { toSqlText } from '@runyard/database';
import type { Tenant } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Queries } from '../database/database.ts';
import type { OAuthProvider, OAuthToken, Prisma } from '../generated/client.ts';
import type { TokenWithProvider } from '../providers/revocations.ts';

/** A user of an organization: an identity, which may have users of its own as subjects. */
export interface TokenOwner {
  organizationId: string;
  identity: string;
}

/** An agent of a workspace by one of its names, which a later deployment may take when the last one is deleted. */
export interface AgentName {
  agentId: string;
  /** Counts the agents that had this name before; undefined: any of them, for tokens that the caller could use anyway. */
  generation?: number;
}

export interface NewToken {
  id: string;
  organizationId: string;
  provider: OAuthProvider;
  /** Null for a token that only agents have. */
  identity: string | null;
  /** Empty for the owner itself. */
  subject: string;
  workspaceId: string | null;
  providerAccountLabel: string | null;
  encrypted: string;
  scopes: string[];
  askedScopes: string[];
  expiresAt: Date | null;
  isDefault: boolean;
}

const newestFirst = [{ createdAt: 'desc' }, { id: 'desc' }] as const;

/** Queries tokens for callers: always those of one owner, or those that an agent of a workspace may use. */
export const tokenStore = {
  newId: (): string => uuidv7(),

  find(queries: Queries, owner: TokenOwner, id: string): Promise<TokenWithProvider | null> {
    return queries.oAuthToken.findFirst({ where: { ...filterByOwner(owner), id }, include: { provider: true } });
  },

  /** Lists who has tokens that represent a person, in a fixed order, after one of them. */
  listOwners(queries: Queries, after: TokenOwner | undefined, limit: number): Promise<TokenOwner[]> {
    return queries.$queryRaw<TokenOwner[]>`
      SELECT DISTINCT organization_id AS "organizationId", owner AS identity
      FROM oauth_token
      WHERE owner IS NOT NULL AND workspace_id IS NULL
        AND (${after === undefined} OR (organization_id, owner) > (${after?.organizationId}::uuid, ${after?.identity}::uuid))
      ORDER BY organization_id, owner
      LIMIT ${limit}`;
  },

  /** Lists the tokens of the owner and all its subjects, the newest first. */
  list(queries: Queries, owner: TokenOwner, providerId?: string): Promise<TokenWithProvider[]> {
    const provider = providerId === undefined ? {} : { provider: { providerId: toSqlText(providerId) } };
    return queries.oAuthToken.findMany({
      where: { ...filterByOwner(owner), ...provider },
      include: { provider: true },
      orderBy: [...newestFirst],
    });
  },

  /** Returns the ids of those providers of which the owner has a token. */
  async providersWithTokens(queries: Queries, owner: TokenOwner, providerIds: readonly string[]): Promise<Set<string>> {
    const found = await queries.oAuthProvider.findMany({
      where: {
        organizationId: owner.organizationId,
        providerId: { in: providerIds.map(toSqlText) },
        tokens: { some: { owner: owner.identity } },
      },
      select: { providerId: true },
    });
    return new Set(found.map(({ providerId }) => providerId));
  },

  /** Returns the tokens of one of the owner's subjects, the default first. */
  listOfSubject(queries: Queries, owner: TokenOwner, providerUuid: string, subject: string): Promise<OAuthToken[]> {
    return queries.oAuthToken.findMany({
      where: { ...filterByOwner(owner), providerUuid, subject },
      orderBy: [{ isDefault: 'desc' }, ...newestFirst],
    });
  },

  /** Returns the tokens that are connected to agents of a workspace, the newest first. */
  async listOfAgents(
    queries: Queries,
    workspace: Tenant,
    agents: readonly AgentName[],
    providerUuid: string,
  ): Promise<OAuthToken[]> {
    const connections = await queries.agentConnection.findMany({
      where: { ...workspace, providerUuid, OR: agents.map(filterByAgent) },
      include: { token: true },
      orderBy: [...newestFirst],
    });
    return connections.map(({ token }) => token);
  },

  /** Returns the tokens that represent a whole Slack workspace and were granted in this workspace. */
  listOfWorkspace(
    queries: Queries,
    workspace: { organizationId: string; workspaceId: string },
    providerUuid?: string,
  ): Promise<TokenWithProvider[]> {
    return queries.oAuthToken.findMany({
      where: { ...workspace, ...(providerUuid === undefined ? {} : { providerUuid }) },
      include: { provider: true },
      orderBy: [...newestFirst],
    });
  },

  /** Returns the tokens that only a workspace can use: those that represent it, and those of its agents alone. */
  listForWorkspaceAlone(queries: Queries, workspace: Tenant): Promise<TokenWithProvider[]> {
    const { organizationId } = workspace;
    return queries.oAuthToken.findMany({
      where: { OR: [workspace, { organizationId, owner: null, connections: { some: workspace } }] },
      include: { provider: true },
    });
  },

  async insert(transaction: Prisma.TransactionClient, { provider, identity, ...token }: NewToken): Promise<OAuthToken> {
    const row = await transaction.oAuthToken.create({
      data: { ...token, owner: identity, provider: { connect: { id: provider.id } } },
    });
    if (row.isDefault) await tokenStore.leaveOneDefault(transaction, row);
    return row;
  },

  /** Makes this token the owner's only default for the provider. */
  async leaveOneDefault(transaction: Prisma.TransactionClient, token: OAuthToken): Promise<void> {
    const { id, organizationId, owner, subject, providerUuid } = token;
    await transaction.oAuthToken.updateMany({
      where: { organizationId, owner, subject, providerUuid, isDefault: true, id: { not: id } },
      data: { isDefault: false },
    });
  },

  async delete(queries: Queries, ids: readonly string[]): Promise<number> {
    return (await queries.oAuthToken.deleteMany({ where: { id: { in: [...ids] } } })).count;
  },
};

function filterByAgent({ agentId, generation }: AgentName) {
  return { agentId: toSqlText(agentId), agentGeneration: generation };
}

function filterByOwner({ organizationId, identity }: TokenOwner) {
  return { organizationId, owner: identity };
}
