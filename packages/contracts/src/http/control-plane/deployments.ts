import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import { DeploymentType } from './resources.ts';
import {
  BadRequestResponse,
  ForbiddenResponse,
  InvalidResponse,
  MissingResponse,
  UnauthorizedResponse,
} from './responses.ts';
import { DeploymentStatus } from './revision-status.ts';
import { DeploymentSource, SourceConfig, SourceRevisionConfig } from './sources.ts';

/** Becomes an environment variable of the deployment's own code. */
export const Secret = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 256, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
    value: Type.String({ maxLength: 65536 }),
  },
  { $id: 'Secret' },
);
export type Secret = Static<typeof Secret>;

const secrets = OptionalNullable(Type.Array(Secret, { maxItems: 500 }));

export const DeploymentCreate = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255 }),
    source: DeploymentSource,
    source_config: SourceConfig,
    source_revision_config: SourceRevisionConfig,
    secrets,
  },
  { $id: 'DeploymentCreateRequest' },
);
export type DeploymentCreate = Static<typeof DeploymentCreate>;

/**
 * A missing or null field is left as it is. A new revision is made when there is a list of secrets, a `resource_spec` or
 * any field of `source_revision_config`.
 */
export const DeploymentPatch = Type.Object(
  {
    source_config: OptionalNullable(SourceConfig),
    source_revision_config: OptionalNullable(SourceRevisionConfig),
    /** Replaces the whole set. */
    secrets,
  },
  { $id: 'DeploymentPatchRequest' },
);
export type DeploymentPatch = Static<typeof DeploymentPatch>;

export const Deployment = Type.Object(
  {
    id: Uuid,
    /** The workspace it belongs to. */
    tenant_id: Uuid,
    name: Type.String(),
    source: DeploymentSource,
    source_config: SourceConfig,
    source_revision_config: SourceRevisionConfig,
    /** Values only for callers who may update the deployment; empty for others. */
    secrets: Type.Array(Secret),
    status: DeploymentStatus,
    latest_revision_id: Nullable(Uuid),
    /** The one that serves. */
    active_revision_id: Nullable(Uuid),
    image_version: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Deployment' },
);
export type Deployment = Static<typeof Deployment>;

export const DeploymentList = Type.Object(
  {
    resources: Type.Array(Deployment),
    /** For the next page. */
    offset: Type.Integer(),
  },
  { $id: 'DeploymentList' },
);
export type DeploymentList = Static<typeof DeploymentList>;

export const exampleDeployment: Deployment = {
  id: '0192f7a0-0000-7000-8000-000000000001',
  tenant_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
  name: 'hello-agent',
  source: 'local_directory',
  source_config: {
    project_path: '/srv/hello-agent',
    deployment_type: 'dev',
    custom_url: 'https://agents.example.com/deployments/0192f7a0-0000-7000-8000-000000000001',
  },
  source_revision_config: { langgraph_config_path: 'langgraph.json' },
  secrets: [{ name: 'MODEL_KEY', value: '' }],
  status: 'READY',
  latest_revision_id: '0192f7a0-0000-7000-8000-000000000002',
  active_revision_id: '0192f7a0-0000-7000-8000-000000000002',
  image_version: null,
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:05.000Z',
};

export const DeploymentParams = Type.Object({ deployment_id: Uuid });

export const deploymentPage = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
};

export const listDeployments = defineOperation({
  operationId: 'listDeployments',
  method: 'get',
  path: '/v2/deployments',
  summary: 'The deployments of the workspace, newest first.',
  tags: ['deployments (v2)'],
  access: 'principal',
  query: Type.Object({
    ...deploymentPage,
    name: Type.Optional(Type.String({ description: 'Exactly this name.' })),
    name_contains: Type.Optional(Type.String()),
    status: Type.Optional(DeploymentStatus),
    deployment_type: Type.Optional(DeploymentType),
    deployment_ids: Type.Optional(Type.String({ description: 'Ids, separated by commas.' })),
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
  body: DeploymentCreate,
  responses: {
    201: { description: 'The new deployment.', schema: Deployment, example: exampleDeployment },
    400: BadRequestResponse,
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
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
  params: DeploymentParams,
  responses: {
    200: { description: 'The deployment.', schema: Deployment, example: exampleDeployment },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: MissingResponse,
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
  params: DeploymentParams,
  body: DeploymentPatch,
  responses: {
    200: { description: 'The deployment after the change.', schema: Deployment, example: exampleDeployment },
    400: BadRequestResponse,
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: MissingResponse,
    422: InvalidResponse,
  },
  examples: { body: { secrets: [{ name: 'MODEL_KEY', value: 'another value' }] } },
});

export const deleteDeployment = defineOperation({
  operationId: 'deleteDeployment',
  method: 'delete',
  path: '/v2/deployments/{deployment_id}',
  summary: 'Delete a deployment with its database: threads, runs and all.',
  tags: ['deployments (v2)'],
  access: 'principal',
  params: DeploymentParams,
  responses: {
    204: { description: 'It stopped serving and is being removed.' },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: MissingResponse,
    422: InvalidResponse,
  },
});
