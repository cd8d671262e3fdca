import Type, { type Static } from 'typebox';
import { defineOperation, type OperationResponse } from '../../operation.ts';
import { Nullable, Uuid } from '../common.ts';
import { ForbiddenResponse, UnauthorizedResponse } from './responses.ts';

const count = Type.Integer({ minimum: 0 });
/** Resources of LangSmith, of which Runyard has none. */
const NONE = Type.Literal(0);

export const WorkspaceStats = Type.Object(
  {
    tenant_id: Uuid,
    /** People with a membership. Administrators of the organization, who need none, do not count. */
    member_count: count,
    /** People with a valid invite to the workspace. */
    pending_member_count: count,
    /** Valid keys that work in this workspace alone. */
    api_key_count: count,
    secret_count: count,
    tag_key_count: count,
    dataset_count: NONE,
    tracer_session_count: NONE,
    repo_count: NONE,
    annotation_queue_count: NONE,
    dashboards_count: NONE,
    /** Null while control-plane, which counts them, does not answer, and for callers whom policies about them concern. */
    deployment_count: Nullable(count),
  },
  { $id: 'WorkspaceStats' },
);
export type WorkspaceStats = Static<typeof WorkspaceStats>;

const WorkspaceUsageLimits = Type.Object(
  {
    /** Always false: a workspace has no usage that could be used up. */
    in_reject_set: Type.Literal(false),
    usage_limit_type: Type.Null(),
    tenant_limit: Type.Null(),
  },
  { $id: 'WorkspaceUsageLimits' },
);

const WorkspaceShares = Type.Object(
  {
    /** Always empty: nothing of a workspace is shared with the public. */
    entities: Type.Array(Type.Null(), { maxItems: 0 }),
  },
  { $id: 'WorkspaceShares' },
);

/** Defines an operation that reads about the caller's workspace. */
const readOfWorkspace = (operation: {
  operationId: string;
  path: string;
  summary: string;
  response: OperationResponse;
}) =>
  defineOperation({
    operationId: operation.operationId,
    method: 'get',
    path: `/api/v1/workspaces/current/${operation.path}`,
    summary: operation.summary,
    tags: ['workspaces'],
    access: 'principal',
    permission: 'workspaces:read',
    responses: { 200: operation.response, 401: UnauthorizedResponse, 403: ForbiddenResponse },
  });

export const getWorkspaceStats = readOfWorkspace({
  operationId: 'getWorkspaceStats',
  path: 'stats',
  summary: 'What the workspace holds, in numbers.',
  response: {
    description: 'The numbers.',
    schema: WorkspaceStats,
    example: {
      tenant_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
      member_count: 12,
      pending_member_count: 1,
      api_key_count: 3,
      secret_count: 2,
      tag_key_count: 2,
      dataset_count: 0,
      tracer_session_count: 0,
      repo_count: 0,
      annotation_queue_count: 0,
      dashboards_count: 0,
      deployment_count: 4,
    },
  },
});

export const getWorkspaceUsageLimits = readOfWorkspace({
  operationId: 'getWorkspaceUsageLimits',
  path: 'usage_limits',
  summary: 'Limits that the workspace has reached: there are none.',
  response: {
    description: 'No limit.',
    schema: WorkspaceUsageLimits,
    example: { in_reject_set: false, usage_limit_type: null, tenant_limit: null },
  },
});

export const listWorkspaceShares = readOfWorkspace({
  operationId: 'listWorkspaceShares',
  path: 'shared',
  summary: 'What the workspace shares with the public: nothing.',
  response: { description: 'Nothing.', schema: WorkspaceShares, example: { entities: [] } },
});
