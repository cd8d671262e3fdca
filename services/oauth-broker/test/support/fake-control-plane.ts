import { randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';
import type {
  AgentStates,
  AgentsRequest,
  DeploymentOfToken,
  DeploymentTokenRequest,
  FormerRows,
  FormerRowsRequest,
} from '@runyard/contracts';
import { WORKSPACE } from '@runyard/test-kit/callers';
import { type FakeServer, INTERNAL_TOKEN, sendJson, startFakeServer } from '@runyard/test-kit/fake-platform';

interface Deployment {
  id: string;
  token: string;
  workspaceId: string;
  agentId: string | null;
  isDeleted: boolean;
}

const EMPTY: FormerRows = {
  kind: 'providers',
  providers: [],
  tokens: [],
  flows: [],
  connections: [],
  undecryptable: 0,
  next: null,
};

/** A fake of control-plane: it knows deployments by their tokens, and has rows of the broker of older releases. */
export class FakeControlPlane {
  readonly #deployments = new Map<string, Deployment>();
  readonly #generations = new Map<string, number>();
  readonly #server: FakeServer;
  /** True when it answers every question with status 500. */
  isUnwell = false;
  /** Answers a question for former rows; by default that there are none. */
  handOver: (question: FormerRowsRequest) => FormerRows | Promise<FormerRows> = () => EMPTY;

  private constructor(server: FakeServer) {
    this.#server = server;
  }

  static async start(): Promise<FakeControlPlane> {
    let self: FakeControlPlane | undefined;
    const server = await startFakeServer(async (req, res) => {
      if (req.headers.authorization !== `Bearer ${INTERNAL_TOKEN}`) return sendJson(res, 401, { detail: 'no' });
      const question = await json(req);
      if (self!.isUnwell) return sendJson(res, 500, { detail: 'unwell' });
      sendJson(res, 200, await self!.#answer(req.url!, question));
    });
    self = new FakeControlPlane(server);
    return self;
  }

  get url(): string {
    return this.#server.url;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  deploy(agentId: string | null = null): { id: string; token: string } {
    const id = randomUUID();
    const deployment = { id, token: `rdt_${id}_${randomUUID()}`, workspaceId: WORKSPACE, agentId, isDeleted: false };
    this.#deployments.set(id, deployment);
    return deployment;
  }

  delete(id: string): void {
    const deployment = this.#deployments.get(id)!;
    deployment.isDeleted = true;
    const { agentId } = deployment;
    if (agentId === null || this.#living().some((each) => each.agentId === agentId)) return;
    this.#generations.set(agentId, this.#generationOf(agentId) + 1);
  }

  #living(): Deployment[] {
    return [...this.#deployments.values()].filter(({ isDeleted }) => !isDeleted);
  }

  #generationOf(agentId: string): number {
    return this.#generations.get(agentId) ?? 0;
  }

  #answer(path: string, question: unknown): unknown {
    if (path === '/internal/deployments/find-by-token') return this.#findByToken(question as DeploymentTokenRequest);
    if (path === '/internal/agents') return this.#describe(question as AgentsRequest);
    return this.handOver(question as FormerRowsRequest);
  }

  #findByToken({ workspace_id, token, agent_id }: DeploymentTokenRequest): DeploymentOfToken {
    const found = this.#living().find((each) => each.token === token && each.workspaceId === workspace_id);
    if (!found) return { deployment: null };
    const { id, agentId } = found;
    const isOfOther =
      this.#deployments.has(String(agent_id).toLowerCase()) ||
      this.#living().some((each) => each.agentId !== null && each.agentId === agent_id);
    const isNamed = agent_id != null && agent_id !== id && (agent_id === agentId || !isOfOther);
    const agents = [id, ...(isNamed ? [agent_id] : [])].map((name) => ({
      agent_id: name,
      generation: this.#generationOf(name),
    }));
    return { deployment: { deployment_id: id, agents } };
  }

  #describe({ agents }: AgentsRequest): AgentStates {
    return {
      agents: agents.map(({ agent_id }) => ({
        is_deleted: this.#deployments.get(agent_id.toLowerCase())?.isDeleted ?? false,
        generation: this.#generationOf(agent_id),
      })),
    };
  }
}
