import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ErrorResponse, Uuid } from '../../common.ts';
import { WorkspaceSecretsRequest, WorkspaceSecretValues } from '../../org-access/workspace-secrets.ts';
import { ListenerParams, listenerErrorResponses } from '../listeners.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { PLATFORM_DATA_PLANE_PERMISSION } from './permission.ts';

/** Asks for secrets of a workspace of which the data plane runs deployments. */
export const WorkspaceSecretsQuestion = Type.Object(
  { epoch: Epoch, tenant_id: Uuid, keys: WorkspaceSecretsRequest.properties.keys },
  { $id: 'WorkspaceSecretsQuestion' },
);
export type WorkspaceSecretsQuestion = Static<typeof WorkspaceSecretsQuestion>;

export const readSecretsOfWorkspace = defineOperation({
  operationId: 'readSecretsOfWorkspace',
  method: 'post',
  path: '/v2/listeners/{listener_id}/workspace-secrets',
  summary: 'Values of secrets of a workspace, for a deployment that refers to them and starts.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: PLATFORM_DATA_PLANE_PERMISSION,
  params: ListenerParams,
  body: WorkspaceSecretsQuestion,
  bodyLimitBytes: 1_048_576,
  responses: {
    200: {
      description: 'The values.',
      schema: WorkspaceSecretValues,
      example: { secrets: [{ key: 'OPENAI_API_KEY', value: 'sk-…' }] },
    },
    409: staleEpochResponse,
    503: {
      description: 'org-access cannot be reached.',
      schema: ErrorResponse,
      example: { detail: 'The secrets of the workspace cannot be read at the moment' },
    },
    ...listenerErrorResponses,
  },
  examples: { body: { epoch: 3, tenant_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001', keys: ['OPENAI_API_KEY'] } },
});
