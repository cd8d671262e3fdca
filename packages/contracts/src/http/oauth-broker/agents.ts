import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { Timestamp, Uuid } from '../common.ts';
import {
  AgentId,
  AUTH_TAG,
  OAUTH_ERROR_RESPONSES,
  ProviderNotFoundResponse,
  TokenNotFoundResponse,
} from './responses.ts';
import { AgentTokenImport } from './tokens.ts';

const AGENT_TAG = 'Agent Connections (v2)';

/**
 * Permits an agent of the workspace to use a token: the code of its deployment gets the token from `authenticate` with
 * its `agent_id`, and people never see it. With the id of a deployment as `agent_id` that deployment alone does.
 */
export const AgentConnection = Type.Object(
  {
    id: Uuid,
    agent_id: Type.String(),
    oauth_token_id: Uuid,
    provider_id: Type.String(),
    provider_account_label: Type.Union([Type.String(), Type.Null()]),
    scopes: Type.Array(Type.String()),
    expires_at: Type.Union([Timestamp, Type.Null()]),
    /** The identity that created it. */
    created_by: Uuid,
    created_at: Timestamp,
  },
  { $id: 'AgentConnection' },
);
export type AgentConnection = Static<typeof AgentConnection>;

const exampleConnection: AgentConnection = {
  id: '0192f7a0-0000-7000-8000-000000000030',
  agent_id: 'mail-agent',
  oauth_token_id: '0192f7a0-0000-7000-8000-000000000020',
  provider_id: 'github',
  provider_account_label: 'alice@example.com',
  scopes: ['repo'],
  expires_at: null,
  created_by: '33333333-0000-4000-8000-000000000001',
  created_at: '2026-11-20T12:00:00.000Z',
};
const made = { description: 'The connection.', schema: AgentConnection, example: exampleConnection };
const missing = {
  ...TokenNotFoundResponse,
  description: 'Not there, or not in this workspace.',
  example: { detail: 'Connection not found.' },
};

export const listAgentConnections = defineOperation({
  operationId: 'listAgentConnections',
  method: 'get',
  path: '/v2/auth/agents/{agent_id}/connections',
  summary: 'What the caller has connected to an agent in the workspace; with `deployments:update`, what everybody has.',
  tags: [AGENT_TAG],
  access: 'principal',
  permission: 'deployments:read',
  params: Type.Object({ agent_id: AgentId }),
  responses: {
    200: {
      description: 'The connections.',
      schema: Type.Object({ data: Type.Array(AgentConnection) }),
      example: { data: [exampleConnection] },
    },
    ...OAUTH_ERROR_RESPONSES,
  },
});

export const createAgentConnection = defineCreation('oauth', {
  operationId: 'createAgentConnection',
  method: 'post',
  path: '/v2/auth/agents/{agent_id}/connections',
  summary: "Let an agent use one of the caller's tokens, in place of the caller's earlier one of the same provider.",
  tags: [AGENT_TAG],
  access: 'principal',
  // Whoever may run a workspace's agents may connect to them, and use their connections.
  permission: 'runs:create',
  params: Type.Object({ agent_id: AgentId }),
  body: Type.Object({ oauth_token_id: Uuid }, { $id: 'AgentConnectionRequest' }),
  responses: { 201: made, 404: TokenNotFoundResponse, ...OAUTH_ERROR_RESPONSES },
  examples: { body: { oauth_token_id: exampleConnection.oauth_token_id } },
});

export const deleteAgentConnection = defineOperation({
  operationId: 'deleteAgentConnection',
  method: 'delete',
  path: '/v2/auth/agents/{agent_id}/connections/{connection_id}',
  summary: "Take a token away from an agent; the token itself stays its owner's.",
  tags: [AGENT_TAG],
  access: 'principal',
  permission: 'any key that writes',
  params: Type.Object({ agent_id: AgentId, connection_id: Uuid }),
  responses: { 204: { description: 'It is gone.' }, 404: missing, ...OAUTH_ERROR_RESPONSES },
});

export const importAgentToken = defineCreation('oauth', {
  operationId: 'importAgentToken',
  method: 'post',
  path: '/v2/auth/agents/{agent_id}/providers/{provider_id}/tokens',
  summary:
    'Store a token that belongs to an agent, in place of its earlier one. An earlier one that nobody else has is deleted.',
  tags: [AGENT_TAG, AUTH_TAG],
  access: 'principal',
  permission: 'deployments:update',
  params: Type.Object({ agent_id: AgentId, provider_id: Type.String() }),
  body: AgentTokenImport,
  responses: { 201: made, 404: ProviderNotFoundResponse, ...OAUTH_ERROR_RESPONSES },
  examples: { body: { access_token: '<a token>', scopes: ['repo'] } },
});
