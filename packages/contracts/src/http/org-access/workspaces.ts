import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { Timestamp, Uuid } from '../common.ts';
import { ForbiddenResponse, InvalidResponse, UnauthorizedResponse } from './responses.ts';

export const Workspace = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    created_at: Timestamp,
    display_name: Type.String(),
    is_personal: Type.Boolean(),
    is_deleted: Type.Boolean(),
    /** The caller's permissions in the workspace. */
    permissions: Type.Array(Type.String()),
  },
  { $id: 'Workspace' },
);
export type Workspace = Static<typeof Workspace>;

export const WorkspaceCreate = Type.Object(
  { display_name: Type.String({ minLength: 1, maxLength: 200, pattern: "^[a-zA-Z0-9\\-_ '@()]+$" }) },
  { $id: 'WorkspaceCreate' },
);
export type WorkspaceCreate = Static<typeof WorkspaceCreate>;

const example: Workspace = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  created_at: '2026-11-20T12:00:00.000Z',
  display_name: 'Workspace 1',
  is_personal: false,
  is_deleted: false,
  permissions: ['deployments:read'],
};

export const listWorkspaces = defineOperation({
  operationId: 'listWorkspaces',
  method: 'get',
  path: '/api/v1/workspaces',
  summary: 'The workspaces the caller can work in.',
  tags: ['workspaces'],
  access: 'principal',
  permission: 'any key',
  responses: {
    200: { description: 'The workspaces, oldest first.', schema: Type.Array(Workspace), example: [example] },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
  },
});

export const createWorkspace = defineCreation('workspaces', {
  operationId: 'createWorkspace',
  method: 'post',
  path: '/api/v1/workspaces',
  summary: 'Make a workspace. Organization administrators only; they administer it at once.',
  tags: ['workspaces'],
  access: 'principal',
  permission: 'organization:manage',
  refusal: { detail: 'Only organization administrators make workspaces', code: 'organization_admin_required' },
  body: WorkspaceCreate,
  responses: {
    200: { description: 'The new workspace.', schema: Workspace, example },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    422: InvalidResponse,
  },
  examples: { body: { display_name: 'Research' } },
});
