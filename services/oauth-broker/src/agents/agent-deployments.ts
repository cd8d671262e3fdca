import { AgentStates, type AgentsRequest, DeploymentOfToken, type DeploymentTokenRequest } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import {
  ForbiddenError,
  type InternalClient,
  type Principal,
  type Tenant,
  UnavailableError,
} from '@runyard/service-kit';
import type { AgentName } from '../tokens/token-store.ts';

/** A deployment whose code asks for tokens. */
export interface AgentDeployment {
  id: string;
  /** The agents that it is, of those that the request names. */
  agents: AgentName[];
}

/** An agent of a workspace that something was given to. */
export interface GivenAgent extends Tenant {
  agentId: string;
  generation: number;
}

/** Asks control-plane, which issues the tokens of deployments, which deployment asks and which agents it is. */
export class AgentDeployments {
  readonly #controlPlane: Pick<InternalClient, 'ask'>;

  constructor(controlPlane: Pick<InternalClient, 'ask'>) {
    this.#controlPlane = controlPlane;
  }

  /**
   * Finds the deployment of a token. It always is the agent of its own id, and of `agentId` unless that is another
   * deployment's.
   *
   * @throws ForbiddenError when the token is no deployment's in the caller's workspace; UnavailableError when
   * control-plane cannot be reached
   */
  async find(caller: Principal, token: string, agentId: string | null | undefined): Promise<AgentDeployment> {
    const { organizationId: organization_id, workspaceId: workspace_id } = caller;
    const agent_id = agentId == null ? null : toSqlText(agentId);
    const found =
      workspace_id === undefined ? null : await this.#findAt({ organization_id, workspace_id, token, agent_id });
    if (found) return found;
    throw new ForbiddenError('The deployment token is not valid in this workspace', {
      code: 'deployment_token_invalid',
    });
  }

  /**
   * Returns the generation of the agent to which something is given now.
   *
   * @throws UnavailableError when control-plane cannot be reached
   */
  async generationOf(agent: Tenant & { agentId: string }): Promise<number> {
    const [state] = await this.#describe([agent]);
    return state!.generation;
  }

  /** Returns those whose deployment was deleted. @throws UnavailableError when control-plane cannot be reached */
  async listEnded(given: readonly GivenAgent[]): Promise<GivenAgent[]> {
    const states = await this.#describe(given);
    return given.filter(({ generation }, index) => {
      const state = states[index]!;
      return state.is_deleted || state.generation > generation;
    });
  }

  async #findAt(question: DeploymentTokenRequest): Promise<AgentDeployment | null> {
    const { deployment } = await this.#ask('/internal/deployments/find-by-token', question, DeploymentOfToken);
    return (
      deployment && {
        id: deployment.deployment_id,
        agents: deployment.agents.map(({ agent_id: agentId, generation }) => ({ agentId, generation })),
      }
    );
  }

  async #describe(agents: readonly (Tenant & { agentId: string })[]): Promise<AgentStates['agents']> {
    const question: AgentsRequest = {
      agents: agents.map(({ organizationId, workspaceId, agentId }) => ({
        organization_id: organizationId,
        workspace_id: workspaceId,
        agent_id: toSqlText(agentId),
      })),
    };
    const states = await this.#ask('/internal/agents', question, AgentStates);
    if (states.agents.length === agents.length) return states.agents;
    throw unavailable(new Error('control-plane describes other agents'));
  }

  readonly #ask: InternalClient['ask'] = async (path, question, schema) => {
    try {
      return await this.#controlPlane.ask(path, question, schema);
    } catch (cause) {
      throw unavailable(cause);
    }
  };
}

function unavailable(cause: unknown): UnavailableError {
  return new UnavailableError('Deployments cannot be asked for at the moment', {
    code: 'agent_check_unavailable',
    cause,
    retryAfterSeconds: 1,
  });
}
