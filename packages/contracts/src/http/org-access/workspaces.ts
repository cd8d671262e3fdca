import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import {
  conflictResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

/** `TenantForUser` of LangGraph Platform's clients: a workspace, and what the caller may do in it. */
export const Workspace = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    created_at: Timestamp,
    display_name: Type.String(),
    /** True for the workspace of a personal organization. */
    is_personal: Type.Boolean(),
    /** A deleted workspace gives nobody access. */
    is_deleted: Type.Boolean(),
    tenant_handle: Nullable(Type.String()),
    /** Always null: workspaces are served where this answer comes from. */
    data_plane_url: Type.Null(),
    /** True when the caller may only read in the workspace. */
    read_only: Type.Boolean(),
    /** The caller's role in the workspace; null when the caller has none there, or the workspace is deleted. */
    role_id: Nullable(Uuid),
    role_name: Nullable(Type.String()),
    /** The caller's permissions in the workspace. */
    permissions: Type.Array(Type.String()),
  },
  { $id: 'Workspace' },
);
export type Workspace = Static<typeof Workspace>;

const displayName = Type.String({ minLength: 1, maxLength: 200, pattern: "^[a-zA-Z0-9\\-_ '@()]+$" });

export const WorkspaceCreate = Type.Object(
  {
    display_name: displayName,
    /** Chosen by the caller; missing: chosen here. */
    id: OptionalNullable(Uuid),
    /** A name for addresses, unique among the workspaces of the organization. */
    tenant_handle: OptionalNullable(
      Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9][a-zA-Z0-9\\-_]*$' }),
    ),
  },
  { $id: 'WorkspaceCreate' },
);
export type WorkspaceCreate = Static<typeof WorkspaceCreate>;

/** A missing or null name changes nothing. */
export const WorkspaceUpdate = Type.Object({ display_name: OptionalNullable(displayName) }, { $id: 'WorkspaceUpdate' });
export type WorkspaceUpdate = Static<typeof WorkspaceUpdate>;

const example: Workspace = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  created_at: '2026-11-20T12:00:00.000Z',
  display_name: 'Workspace 1',
  is_personal: false,
  is_deleted: false,
  tenant_handle: null,
  data_plane_url: null,
  read_only: true,
  role_id: '5a7d6f2e-0000-4000-8000-000000000014',
  role_name: 'Viewer',
  permissions: ['deployments:read'],
};

const params = Type.Object({ workspace_id: Uuid });

export const listWorkspaces = defineOperation({
  operationId: 'listWorkspaces',
  method: 'get',
  path: '/api/v1/workspaces',
  summary: 'The workspaces the caller can work in.',
  tags: ['workspaces'],
  access: 'principal',
  permission: 'any key',
  query: Type.Object({
    include_deleted: Type.Optional(
      Type.Boolean({ description: 'Deleted ones too, for callers who reach every workspace. Default false.' }),
    ),
  }),
  responses: {
    200: { description: 'The workspaces, oldest first.', schema: Type.Array(Workspace), example: [example] },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    422: InvalidResponse,
  },
});

export const createWorkspace = defineCreation('workspaces', {
  operationId: 'createWorkspace',
  method: 'post',
  path: '/api/v1/workspaces',
  summary: 'Make a workspace. Its maker administers it at once, and so do administrators of the organization.',
  tags: ['workspaces'],
  access: 'principal',
  permission: 'organization:manage',
  refusal: { detail: 'Only organization administrators make workspaces', code: 'organization_admin_required' },
  body: WorkspaceCreate,
  responses: {
    200: { description: 'The new workspace.', schema: Workspace, example },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    409: conflictResponse('A workspace of this organization has the handle "research"'),
    422: InvalidResponse,
  },
  examples: { body: { display_name: 'Research' } },
});

export const updateWorkspace = defineOperation({
  operationId: 'updateWorkspace',
  method: 'patch',
  path: '/api/v1/workspaces/{workspace_id}',
  summary: 'Rename a workspace.',
  tags: ['workspaces'],
  access: 'principal',
  permission: { checkedByService: 'workspaces:manage', because: 'in the workspace of the path' },
  params,
  body: WorkspaceUpdate,
  responses: {
    200: { description: 'The workspace after the change.', schema: Workspace, example },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: { ...NotFoundResponse, example: { detail: 'Workspace not found' } },
    422: InvalidResponse,
  },
  examples: { params: { workspace_id: example.id }, body: { display_name: 'Research' } },
});

export const deleteWorkspace = defineOperation({
  operationId: 'deleteWorkspace',
  method: 'delete',
  path: '/api/v1/workspaces/{workspace_id}',
  summary: 'Delete a workspace with its deployments, its keys, its secrets and its tags. Administrators only.',
  tags: ['workspaces'],
  access: 'principal',
  permission: { checkedByService: 'organization:manage', because: 'Operators of the organization may not' },
  params,
  responses: {
    200: {
      description: 'The workspace, deleted. Nobody has access any more; its deployments end within minutes.',
      schema: Workspace,
      example: { ...example, is_deleted: true, permissions: [], role_id: null, role_name: null },
    },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: { ...NotFoundResponse, example: { detail: 'Workspace not found' } },
    409: {
      ...conflictResponse('The last workspace of an organization cannot be deleted'),
      description: 'It is needed.',
    },
    422: InvalidResponse,
  },
  examples: { params: { workspace_id: example.id } },
});
