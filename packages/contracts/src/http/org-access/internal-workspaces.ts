import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import { InvalidResponse } from './responses.ts';

const WorkspaceNames = Type.Array(Type.Object({ organization_id: Uuid, workspace_id: Uuid }), { maxItems: 1000 });

export const DeletedWorkspacesRequest = Type.Object(
  { workspaces: WorkspaceNames },
  { $id: 'DeletedWorkspacesRequest' },
);
export type DeletedWorkspacesRequest = Static<typeof DeletedWorkspacesRequest>;

export const DeletedWorkspacesResponse = Type.Object(
  {
    /** The workspaces that were deleted. One that was never there is not among them. */
    deleted: WorkspaceNames,
  },
  { $id: 'DeletedWorkspacesResponse' },
);
export type DeletedWorkspacesResponse = Static<typeof DeletedWorkspacesResponse>;

const example = {
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
};

export const findDeletedWorkspaces = defineOperation({
  operationId: 'findDeletedWorkspaces',
  method: 'post',
  path: '/internal/workspaces/deleted',
  summary: 'Which of these workspaces were deleted, so that a service may delete what it keeps for them.',
  tags: ['internal'],
  access: 'internal',
  body: DeletedWorkspacesRequest,
  responses: {
    200: { description: 'The deleted ones.', schema: DeletedWorkspacesResponse, example: { deleted: [example] } },
    422: InvalidResponse,
  },
  examples: { body: { workspaces: [example] } },
});
