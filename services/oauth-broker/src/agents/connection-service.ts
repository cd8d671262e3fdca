import type { AgentConnection, AgentTokenImport } from '@runyard/contracts';
import { takeAdvisoryLock, toSqlText } from '@runyard/database';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import {
  hasPermission,
  NotFoundError,
  type Principal,
  requirePermission,
  type Tenant,
  tenantOf,
} from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/database.ts';
import type { OAuthProvider, OAuthToken, Prisma, AgentConnection as Row } from '../generated/client.ts';
import type { ProviderService } from '../providers/provider-service.ts';
import type { TokenVault } from '../token-vault.ts';
import { makeImportedToken } from '../tokens/imported-token.ts';
import { tokenStore } from '../tokens/token-store.ts';
import type { AgentDeployments } from './agent-deployments.ts';

interface Dependencies {
  database: Database;
  deployments: Pick<AgentDeployments, 'generationOf'>;
  providers: ProviderService;
  vault: TokenVault;
}

type Connected = Row & { token: OAuthToken; provider: Pick<OAuthProvider, 'providerId'> };

interface Agent extends Tenant {
  agentId: string;
}

const whole = { token: true, provider: { select: { providerId: true } } } as const;

/**
 * Manages the tokens that the agents of a workspace may use. Each user, and the agent itself, has at most one for each
 * provider.
 */
export class ConnectionService {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Lists what the caller connected; of others only for who may take their connections away. */
  async list(caller: Principal, agentId: string): Promise<AgentConnection[]> {
    const agent = agentOf(caller, agentId);
    const where = hasPermission(caller, 'deployments:update') ? agent : { ...agent, createdBy: caller.identity };
    const rows = await this.#dependencies.database.prisma.agentConnection.findMany({
      where,
      include: whole,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    });
    return rows.map(connectionView);
  }

  async connect(caller: Principal, agentId: string, tokenId: string, keyed?: KeyedRequest): Promise<AgentConnection> {
    const agent = agentOf(caller, agentId);
    const { database, deployments } = this.#dependencies;
    const agentGeneration = await deployments.generationOf(agent);
    return database.transact(
      withIdempotencyKey(keyed, async (transaction) => {
        const token = await tokenStore.find(transaction, caller, tokenId);
        if (!token) throw new NotFoundError('OAuth token not found.');
        return this.#link(transaction, caller, { agent, agentGeneration, token });
      }),
    );
  }

  async disconnect(caller: Principal, agentId: string, connectionId: string): Promise<void> {
    const agent = agentOf(caller, agentId);
    const { prisma } = this.#dependencies.database;
    const connection = await prisma.agentConnection.findFirst({ where: { ...agent, id: connectionId } });
    if (!connection) throw new NotFoundError('Connection not found.');
    // Whoever made a connection may remove it, so the permission depends on the connection.
    if (connection.createdBy !== caller.identity) requirePermission(caller, 'deployments:update');
    await prisma.agentConnection.deleteMany({ where: { id: connection.id } });
  }

  /** Imports the agent's own token and replaces its earlier one. */
  async import(
    caller: Principal,
    agentId: string,
    providerId: string,
    body: AgentTokenImport,
    keyed?: KeyedRequest,
  ): Promise<AgentConnection> {
    const agent = agentOf(caller, agentId);
    const { database, deployments, providers, vault } = this.#dependencies;
    const provider = await providers.find(caller.organizationId, providerId);
    const token = makeImportedToken(vault, provider, body);
    const agentGeneration = await deployments.generationOf(agent);
    return database.transact(
      withIdempotencyKey(keyed, async (transaction) => {
        const row = await tokenStore.insert(transaction, { ...token, identity: null, isDefault: false });
        return this.#link(transaction, caller, { agent, agentGeneration, token: row });
      }),
    );
  }

  async #link(
    transaction: Prisma.TransactionClient,
    { identity }: Principal,
    { agent, agentGeneration, token }: { agent: Agent; agentGeneration: number; token: OAuthToken },
  ): Promise<AgentConnection> {
    const { providerUuid, owner } = token;
    await takeAdvisoryLock(transaction, `connections of agent ${agent.workspaceId}/${agent.agentId}`);
    const earlier = await transaction.agentConnection.findMany({ where: { ...agent, providerUuid, token: { owner } } });
    await transaction.agentConnection.deleteMany({ where: { id: { in: earlier.map(({ id }) => id) } } });
    const row = await transaction.agentConnection.create({
      data: {
        id: uuidv7(),
        ...agent,
        agentGeneration,
        token: { connect: { id: token.id } },
        provider: { connect: { id: providerUuid } },
        createdBy: identity,
      },
      include: whole,
    });
    // No caller could use the earlier tokens any more.
    await transaction.oAuthToken.deleteMany({
      where: { id: { in: earlier.map(({ tokenId }) => tokenId) }, owner: null, connections: { none: {} } },
    });
    return connectionView(row);
  }
}

function agentOf(caller: Principal, agentId: string): Agent {
  return { ...tenantOf(caller), agentId: toSqlText(agentId) };
}

function connectionView({ token, provider, ...row }: Connected): AgentConnection {
  return {
    id: row.id,
    agent_id: row.agentId,
    oauth_token_id: row.tokenId,
    provider_id: provider.providerId,
    provider_account_label: token.providerAccountLabel,
    scopes: token.scopes,
    expires_at: token.expiresAt?.toISOString() ?? null,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
  };
}
