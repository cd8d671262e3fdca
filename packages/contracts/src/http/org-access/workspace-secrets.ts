import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, Uuid } from '../common.ts';
import { ForbiddenResponse, InvalidResponse, UnauthorizedResponse } from './responses.ts';

/** The most secrets of a workspace. */
export const WORKSPACE_SECRETS_MAX = 200;

/** In `secret_references` of a deployment, the secrets of its workspace have this `secret_name`. */
export const WORKSPACE_SECRETS_NAME = 'workspace-secrets';

const SecretKey = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: '^[-.]*[a-zA-Z0-9_][-._a-zA-Z0-9]*$',
});

export const WorkspaceSecretName = Type.Object({ key: Type.String() }, { $id: 'WorkspaceSecretName' });
export type WorkspaceSecretName = Static<typeof WorkspaceSecretName>;

export const WorkspaceSecretChange = Type.Object(
  {
    key: SecretKey,
    /** Null deletes the secret. At most 64 KiB of UTF-8. */
    value: Nullable(Type.String({ maxLength: 65_536 })),
  },
  { $id: 'WorkspaceSecretChange' },
);
export type WorkspaceSecretChange = Static<typeof WorkspaceSecretChange>;

export const listWorkspaceSecrets = defineOperation({
  operationId: 'listWorkspaceSecrets',
  method: 'get',
  path: '/api/v1/workspaces/current/secrets',
  summary: 'The names of the secrets of the workspace. Values are never answered.',
  tags: ['secrets'],
  access: 'principal',
  permission: 'workspaces:read',
  responses: {
    200: {
      description: 'The names, in their order.',
      schema: Type.Array(WorkspaceSecretName),
      example: [{ key: 'OPENAI_API_KEY' }],
    },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
  },
});

export const setWorkspaceSecrets = defineOperation({
  operationId: 'setWorkspaceSecrets',
  method: 'post',
  path: '/api/v1/workspaces/current/secrets',
  summary: 'Set and delete secrets of the workspace: all of the list, or none. Others stay.',
  tags: ['secrets'],
  access: 'principal',
  permission: 'workspaces:manage',
  body: Type.Array(WorkspaceSecretChange, { minItems: 1, maxItems: WORKSPACE_SECRETS_MAX }),
  responses: {
    200: {
      description: 'The names of all secrets after the change.',
      schema: Type.Array(WorkspaceSecretName),
      example: [{ key: 'OPENAI_API_KEY' }],
    },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    422: InvalidResponse,
  },
  examples: { body: [{ key: 'OPENAI_API_KEY', value: 'sk-…' }] },
});

const SecretKeys = Type.Array(Type.String({ maxLength: 253 }), { maxItems: 500 });

export const WorkspaceSecretsRequest = Type.Object(
  { organization_id: Uuid, workspace_id: Uuid, keys: SecretKeys },
  { $id: 'WorkspaceSecretsRequest' },
);
export type WorkspaceSecretsRequest = Static<typeof WorkspaceSecretsRequest>;

export const WorkspaceSecretValues = Type.Object(
  {
    /** Has a value for each of the keys that the workspace has; the others are missing. */
    secrets: Type.Array(Type.Object({ key: Type.String(), value: Type.String() })),
  },
  { $id: 'WorkspaceSecretValues' },
);
export type WorkspaceSecretValues = Static<typeof WorkspaceSecretValues>;

export const readWorkspaceSecrets = defineOperation({
  operationId: 'readWorkspaceSecrets',
  method: 'post',
  path: '/internal/workspaces/secrets',
  summary: 'Values of secrets of a workspace, for a deployment that refers to them and starts.',
  tags: ['internal'],
  access: 'internal',
  body: WorkspaceSecretsRequest,
  responses: {
    200: {
      description: 'The values.',
      schema: WorkspaceSecretValues,
      example: { secrets: [{ key: 'OPENAI_API_KEY', value: 'sk-…' }] },
    },
    422: InvalidResponse,
  },
  examples: {
    body: {
      organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
      workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
      keys: ['OPENAI_API_KEY'],
    },
  },
});
