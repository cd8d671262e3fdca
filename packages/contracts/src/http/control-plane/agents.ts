import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, OptionalNullable, Uuid } from '../common.ts';
import { InvalidResponse } from './responses.ts';

/** An agent of a workspace: an id of a deployment, the name that one was made for, or the caller's own name for one. */
const AgentName = Type.Object({
  organization_id: Uuid,
  workspace_id: Uuid,
  agent_id: Type.String({ minLength: 1, maxLength: 255 }),
});

/**
 * Counts how often the last deployment of a name was deleted. A later deployment of that name is another agent: what
 * was given to an earlier generation is not for it. The number of an id is always 0.
 */
const Generation = Type.Integer({ minimum: 0 });

export const DeploymentTokenRequest = Type.Object(
  {
    organization_id: Uuid,
    workspace_id: Uuid,
    /** The text that shall be the token of a deployment in this workspace. */
    token: Type.String({ maxLength: 16_384 }),
    /** The agent that the deployment says it is. */
    agent_id: OptionalNullable(AgentName.properties.agent_id),
  },
  { $id: 'DeploymentTokenRequest' },
);
export type DeploymentTokenRequest = Static<typeof DeploymentTokenRequest>;

export const DeploymentOfToken = Type.Object(
  {
    /** Null: the text is no token of a deployment in this workspace that exists. */
    deployment: Nullable(
      Type.Object({
        deployment_id: Uuid,
        /** The agents that the deployment is, of those that it names. */
        agents: Type.Array(Type.Object({ agent_id: Type.String(), generation: Generation })),
      }),
    ),
  },
  { $id: 'DeploymentOfToken' },
);
export type DeploymentOfToken = Static<typeof DeploymentOfToken>;

const example = {
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
};

export const findDeploymentOfToken = defineOperation({
  operationId: 'findDeploymentOfToken',
  method: 'post',
  path: '/internal/deployments/find-by-token',
  summary: 'The deployment whose code shows a token, and which agents it is.',
  tags: ['internal'],
  access: 'internal',
  body: DeploymentTokenRequest,
  responses: {
    200: { description: 'The deployment, or null.', schema: DeploymentOfToken, example: { deployment: null } },
    422: InvalidResponse,
  },
  examples: { body: { ...example, token: 'rdt_<the token>', agent_id: 'support' } },
});

export const AgentsRequest = Type.Object(
  { agents: Type.Array(AgentName, { maxItems: 1_000 }) },
  { $id: 'AgentsRequest' },
);
export type AgentsRequest = Static<typeof AgentsRequest>;

export const AgentStates = Type.Object(
  {
    /** In the order of the question. */
    agents: Type.Array(
      Type.Object({
        /** True for the id of a deployment that was deleted. */
        is_deleted: Type.Boolean(),
        generation: Generation,
      }),
    ),
  },
  { $id: 'AgentStates' },
);
export type AgentStates = Static<typeof AgentStates>;

export const describeAgents = defineOperation({
  operationId: 'describeAgents',
  method: 'post',
  path: '/internal/agents',
  summary: 'Whether what was given to these agents is still for somebody.',
  tags: ['internal'],
  access: 'internal',
  body: AgentsRequest,
  responses: {
    200: {
      description: 'Each of them.',
      schema: AgentStates,
      example: { agents: [{ is_deleted: false, generation: 0 }] },
    },
    422: InvalidResponse,
  },
  examples: { body: { agents: [{ ...example, agent_id: 'support' }] } },
});
