import { describeAgents, findDeploymentOfToken } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { AgentNames } from './agent-names.ts';

/** Answers oauth-broker, which gives tokens of people to agents. */
export function agentRoutes(names: AgentNames): BoundOperation[] {
  return [
    bind(findDeploymentOfToken, async ({ body }) => ok({ deployment: await names.findByToken(body) })),
    bind(describeAgents, async ({ body }) => ok({ agents: await names.describe(body) })),
  ];
}
