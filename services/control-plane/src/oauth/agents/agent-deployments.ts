import { toSqlText } from '@runyard/database';
import { ForbiddenError, type Principal, type Tenant } from '@runyard/service-kit';
import type { Database } from '../../database/database.ts';

/** A deployment whose code asks for tokens. */
export interface AgentDeployment extends Tenant {
  id: string;
  /** The agent for which it was made; null: for none. */
  agentId: string | null;
}

/** Reads tokens of deployments. */
export interface DeploymentProofs {
  /** Returns the id of the token's deployment, which may not exist any more; null for a text that is no token. */
  deploymentOf(token: string): string | null;
}

/** Finds out which deployment asks, and which agents it is. */
export class AgentDeployments {
  readonly #database: Database;
  readonly #tokens: DeploymentProofs;

  constructor(options: { database: Database; tokens: DeploymentProofs }) {
    this.#database = options.database;
    this.#tokens = options.tokens;
  }

  /** @throws ForbiddenError when the token is no deployment's in the caller's workspace */
  async find({ organizationId, workspaceId }: Principal, token: string): Promise<AgentDeployment> {
    const id = this.#tokens.deploymentOf(token);
    const found =
      id !== null && workspaceId !== undefined
        ? await this.#database.prisma.deployment.findFirst({
            where: { id, organizationId, workspaceId, deleteRequestedAt: null },
            select: { id: true, agentId: true, organizationId: true, workspaceId: true },
          })
        : null;
    if (found) return found;
    throw new ForbiddenError('The deployment token is not valid in this workspace', {
      code: 'deployment_token_invalid',
    });
  }

  /**
   * Returns the ids of agents that the deployment is, of those that it names itself. It always is the one of its own
   * id. A name that other deployments of the workspace have, and it has not, is theirs, and so is an id that one of them
   * had before it was deleted. Names that no deployment has, such as the ids of assistants, are of whichever deployment
   * of the workspace uses them.
   */
  async agentsOf(deployment: AgentDeployment, agentId: string | null | undefined): Promise<string[]> {
    const { id, organizationId, workspaceId, agentId: own } = deployment;
    if (agentId == null || agentId === id) return [id];
    if (agentId === own) return [id, agentId];
    const name = toSqlText(agentId);
    const { prisma } = this.#database;
    const isIdOfOther = await prisma.deploymentAddress.findFirst({
      where: { kind: 'id', name: name.toLowerCase(), workspaceId },
      select: { name: true },
    });
    if (isIdOfOther) return [id];
    // One that is being deleted keeps its name until it is gone.
    const other = await prisma.deployment.findFirst({
      where: { organizationId, workspaceId, agentId: name },
      select: { id: true },
    });
    return other ? [id] : [id, agentId];
  }
}
