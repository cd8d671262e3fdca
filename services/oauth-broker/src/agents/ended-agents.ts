import { conforms, DeploymentDeleted } from '@runyard/contracts';
import { type Lifecycle, type Logger, PeriodicTask } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { Revocations } from '../providers/revocations.ts';
import type { AgentDeployments, GivenAgent } from './agent-deployments.ts';

const EVERY_MS = 300_000;
/** Agents of one query, and of one question. */
const QUESTION_MAX = 1_000;

interface Dependencies {
  database: Database;
  deployments: Pick<AgentDeployments, 'listEnded'>;
  revocations: Revocations;
  logger: Logger;
}

/**
 * Ends what was connected to deployments that were deleted: by their id, and by the name of their agent when no other
 * deployment has it. Tokens that nobody could use any more are revoked and deleted. An event is only a hint:
 * control-plane is asked, so that nobody can end anything by writing to the bus. A periodic round asks about all agents
 * that have connections, because events may be lost. Safety does not depend on either: a connection of an earlier
 * generation of the name is used for nobody (`AgentDeployments.find`).
 */
export class EndedAgents {
  readonly #dependencies: Dependencies;
  readonly #rounds: PeriodicTask;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#rounds = new PeriodicTask({
      name: 'connections of deleted deployments',
      everyMs: EVERY_MS,
      atStart: true,
      run: (task) => this.#checkAll(() => task.isStopped),
      logger: dependencies.logger,
    });
  }

  start(lifecycle: Pick<Lifecycle, 'onStop'>): void {
    this.#rounds.start();
    lifecycle.onStop('connections of deleted deployments', () => this.#rounds.stop());
  }

  /** Takes an event of `deployments`. */
  async onEvent(event: unknown): Promise<void> {
    if (!conforms(DeploymentDeleted, event)) return;
    await this.#checkAll(() => false, event.data.workspace_id);
  }

  /** Asks about all agents that something was connected to, in one workspace or in all. */
  async #checkAll(isStopped: () => boolean, workspaceId?: string): Promise<void> {
    let last: GivenAgent | undefined;
    do {
      const given = await this.#listGiven(last, workspaceId);
      await this.#check(given);
      last = given.at(QUESTION_MAX - 1);
    } while (last !== undefined && !isStopped());
  }

  #listGiven(after: GivenAgent | undefined, workspaceId: string | undefined): Promise<GivenAgent[]> {
    return this.#dependencies.database.prisma.$queryRaw<GivenAgent[]>`
      SELECT DISTINCT
        organization_id AS "organizationId", workspace_id AS "workspaceId", agent_id AS "agentId",
        agent_generation AS generation
      FROM oauth_agent_connection
      WHERE (${workspaceId === undefined} OR workspace_id = ${workspaceId}::uuid)
        AND (${after === undefined} OR (workspace_id, agent_id, agent_generation)
          > (${after?.workspaceId}::uuid, ${after?.agentId}, ${after?.generation}::int))
      ORDER BY workspace_id, agent_id, agent_generation
      LIMIT ${QUESTION_MAX}`;
  }

  /** @throws UnavailableError when control-plane cannot be reached: then nothing is removed */
  async #check(given: readonly GivenAgent[]): Promise<void> {
    if (given.length === 0) return;
    for (const agent of await this.#dependencies.deployments.listEnded(given)) await this.#end(agent);
  }

  async #end({ generation, ...agent }: GivenAgent): Promise<void> {
    const { database, revocations, logger } = this.#dependencies;
    const ended = { ...agent, agentGeneration: generation };
    const unused = { owner: null, connections: { some: ended, every: ended } };
    // A crash in between leaves tokens that are revoked again in the next round.
    const tokens = await database.prisma.oAuthToken.findMany({ where: unused, include: { provider: true } });
    const { failed } = await revocations.revokeAll(tokens);
    await database.prisma.$transaction([
      database.prisma.oAuthToken.deleteMany({ where: { id: { in: tokens.map(({ id }) => id) }, ...unused } }),
      database.prisma.agentConnection.deleteMany({ where: ended }),
    ]);
    logger.info('connections of deleted deployment ended', { ...agent, tokens: tokens.length, failed });
  }
}
