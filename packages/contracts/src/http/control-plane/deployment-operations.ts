import Type from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import {
  Deployment,
  DeploymentCreate,
  DeploymentDeletions,
  DeploymentList,
  DeploymentParams,
  DeploymentPatch,
  deploymentPage,
  exampleDeployment,
} from './deployments.ts';
import { DeploymentType } from './resources.ts';
import {
  BadRequestResponse,
  ConflictResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';
import { DeploymentStatus } from './revision-status.ts';

export const listDeployments = defineOperation({
  operationId: 'listDeployments',
  method: 'get',
  path: '/v2/deployments',
  summary: 'The deployments of the workspace, newest first.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:read',
  query: Type.Object({
    ...deploymentPage,
    name: Type.Optional(Type.String({ description: 'Exactly this name.' })),
    name_contains: Type.Optional(Type.String()),
    status: Type.Optional(DeploymentStatus),
    deployment_type: Type.Optional(DeploymentType),
    deployment_ids: Type.Optional(Type.String({ description: 'Ids, separated by commas.' })),
    image_version: Type.Optional(Type.String({ description: 'Served by exactly this version of the agent server.' })),
    remote_reconciled: Type.Optional(
      Type.Boolean({ description: 'Whether a listener, and not the platform itself, runs the deployment.' }),
    ),
    tag_value_ids: Type.Optional(
      Type.String({
        description: 'Ids, separated by commas: deployments that have, of each tag key among them, one of the values.',
      }),
    ),
    agent_id: Type.Optional(Type.String()),
    agent_environment: Type.Optional(Type.String()),
  }),
  responses: {
    200: {
      description: 'A page of deployments.',
      schema: DeploymentList,
      example: { resources: [exampleDeployment], offset: 1 },
    },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    422: InvalidResponse,
  },
});

export const createDeployment = defineCreation('deployments', {
  operationId: 'createDeployment',
  method: 'post',
  path: '/v2/deployments',
  summary: 'Make a deployment and its first revision.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:create',
  plan: 'plus',
  body: DeploymentCreate,
  responses: {
    201: { description: 'The new deployment.', schema: Deployment, example: exampleDeployment },
    400: BadRequestResponse,
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    409: ConflictResponse,
    422: InvalidResponse,
  },
  examples: {
    body: {
      name: 'hello-agent',
      source: 'local_directory',
      source_config: { project_path: '/srv/hello-agent', deployment_type: 'dev' },
      source_revision_config: { langgraph_config_path: 'langgraph.json' },
      secrets: [{ name: 'MODEL_KEY', value: 'a value' }],
    },
  },
});

export const getDeployment = defineOperation({
  operationId: 'getDeployment',
  method: 'get',
  path: '/v2/deployments/{deployment_id}',
  summary: 'One deployment.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:read',
  params: DeploymentParams,
  responses: {
    200: { description: 'The deployment.', schema: Deployment, example: exampleDeployment },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: NotFoundResponse,
    422: InvalidResponse,
  },
});

export const patchDeployment = defineOperation({
  operationId: 'patchDeployment',
  method: 'patch',
  path: '/v2/deployments/{deployment_id}',
  summary: 'Change a deployment; most changes make a new revision.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:update',
  params: DeploymentParams,
  body: DeploymentPatch,
  responses: {
    200: { description: 'The deployment after the change.', schema: Deployment, example: exampleDeployment },
    400: BadRequestResponse,
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: NotFoundResponse,
    422: InvalidResponse,
  },
  examples: { body: { secrets: [{ name: 'MODEL_KEY', value: 'another value' }] } },
});

const tracingProject = {
  delete_tracing_project: Type.Boolean({
    default: false,
    description: 'Traces lie where the deployment sent them, not here: this platform has no tracing project to delete.',
  }),
};

export const deleteDeployment = defineOperation({
  operationId: 'deleteDeployment',
  method: 'delete',
  path: '/v2/deployments/{deployment_id}',
  summary: 'Delete a deployment with its database: threads, runs and all.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:delete',
  params: DeploymentParams,
  query: Type.Object(tracingProject),
  responses: {
    204: { description: 'It stopped serving and is being removed.' },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: NotFoundResponse,
    422: InvalidResponse,
  },
});

export const deleteDeployments = defineOperation({
  operationId: 'deleteDeployments',
  method: 'delete',
  path: '/v2/deployments',
  summary: 'Delete several deployments.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:delete',
  query: Type.Object({
    deployment_ids: Type.Array(Uuid, { minItems: 1, maxItems: 100 }),
    ...tracingProject,
  }),
  responses: {
    200: {
      description: 'All of them stopped serving and are being removed.',
      schema: DeploymentDeletions,
      example: { deleted: [exampleDeployment.id], failed: [] },
    },
    207: {
      description: 'Some of them were not there, or not deleted.',
      schema: DeploymentDeletions,
      example: {
        deleted: [exampleDeployment.id],
        failed: [
          {
            id: '0192f7a0-0000-7000-8000-000000000009',
            detail: 'Deployment ID 0192f7a0-0000-7000-8000-000000000009 not found.',
          },
        ],
      },
    },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: { ...NotFoundResponse, description: 'None of them is there.' },
    422: InvalidResponse,
  },
});
