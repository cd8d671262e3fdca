import type { AgentStates, AgentsRequest, DeploymentOfToken, DeploymentTokenRequest } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import type { Tenant } from '@runyard/service-kit';
import type { PrismaClient } from '../generated/client.ts';

/** Reads tokens of deployments. */
interface DeploymentProofs {
  /** Returns the id of the token's deployment, which may not exist any more; null for a text that is no token. */
  deploymentOf(token: string): string | null;
}

interface AgentDeployment extends Tenant {
  id: string;
  /** The agent for which it was made; null: for none. */
  agentId: string | null;
}

const UUID_FORM = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** Says whose code asks, and for which agents' names deployments stand. */
export class AgentNames {
  readonly #prisma: PrismaClient;
  readonly #tokens: DeploymentProofs;

  constructor(options: { prisma: PrismaClient; tokens: DeploymentProofs }) {
    this.#prisma = options.prisma;
    this.#tokens = options.tokens;
  }

  async findByToken({
    organization_id,
    workspace_id,
    token,
    agent_id,
  }: DeploymentTokenRequest): Promise<DeploymentOfToken['deployment']> {
    const id = this.#tokens.deploymentOf(token);
    if (id === null) return null;
    const tenant = { organizationId: organization_id, workspaceId: workspace_id };
    const name = agent_id == null ? null : toSqlText(agent_id);
    // Before it is found that the deployment is there: what is given to a later one is of a later generation.
    const generations = await this.#generationsOf(workspace_id, name === null ? [id] : [id, name]);
    const deployment = await this.#prisma.deployment.findFirst({
      where: { id, ...tenant, deleteRequestedAt: null },
      select: { id: true, agentId: true, organizationId: true, workspaceId: true },
    });
    if (deployment === null) return null;
    const names = await this.#namesOf(deployment, name);
    return {
      deployment_id: id,
      agents: names.map((each) => ({ agent_id: each, generation: generations.get(each) ?? 0 })),
    };
  }

  /** Describes the agents, in the order in which they are named. */
  async describe({ agents }: AgentsRequest): Promise<AgentStates['agents']> {
    const rows = await this.#prisma.$queryRaw<{ isDeleted: boolean; generation: number }[]>`
      SELECT
        EXISTS (
          SELECT FROM deployment_address
          WHERE kind = 'id' AND name = lower(asked.agent_id) AND workspace_id = asked.workspace_id)
        AND NOT EXISTS (
          SELECT FROM deployment
          WHERE id = CASE WHEN asked.agent_id ~* ${UUID_FORM} THEN asked.agent_id::uuid END
            AND delete_requested_at IS NULL) AS "isDeleted",
        coalesce((
          SELECT generation FROM agent_generation
          WHERE workspace_id = asked.workspace_id AND agent_id = asked.agent_id), 0) AS generation
      FROM unnest(
        ${agents.map(({ workspace_id }) => workspace_id)}::uuid[],
        ${agents.map(({ agent_id }) => toSqlText(agent_id))}::text[]
      ) WITH ORDINALITY AS asked (workspace_id, agent_id, place)
      ORDER BY asked.place`;
    return rows.map(({ isDeleted: is_deleted, generation }) => ({ is_deleted, generation }));
  }

  /**
   * Returns the names that the deployment has, of those that it names itself. It always has its own id. A name that
   * other deployments of the workspace have, and it has not, is theirs, and so is an id that one of them had before it
   * was deleted. Names that no deployment has, such as the ids of assistants, are of whichever deployment of the
   * workspace uses them.
   */
  async #namesOf({ id, organizationId, workspaceId, agentId: own }: AgentDeployment, name: string | null) {
    if (name === null || name === id) return [id];
    if (name === own) return [id, name];
    const isIdOfOther = await this.#prisma.deploymentAddress.findFirst({
      where: { kind: 'id', name: name.toLowerCase(), workspaceId },
      select: { name: true },
    });
    if (isIdOfOther) return [id];
    // One that is being deleted keeps its name until it is gone.
    const other = await this.#prisma.deployment.findFirst({
      where: { organizationId, workspaceId, agentId: name },
      select: { id: true },
    });
    return other ? [id] : [id, name];
  }

  /** Forgets the generations of a workspace whose deployments are being deleted: nobody can ask with a token of theirs. */
  async removeWorkspace({ workspaceId }: Tenant): Promise<void> {
    await this.#prisma.agentGeneration.deleteMany({ where: { workspaceId } });
  }

  /** Returns those that are not the first. */
  async #generationsOf(workspaceId: string, agentIds: string[]): Promise<Map<string, number>> {
    const rows = await this.#prisma.agentGeneration.findMany({ where: { workspaceId, agentId: { in: agentIds } } });
    return new Map(rows.map(({ agentId, generation }) => [agentId, generation]));
  }
}
