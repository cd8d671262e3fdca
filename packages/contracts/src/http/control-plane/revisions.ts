import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { Timestamp, Uuid } from '../common.ts';
import { Deployment, DeploymentParams, DeploymentPatch, deploymentPage, exampleDeployment } from './deployments.ts';
import {
  BadRequestResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';
import { RevisionStatus } from './revision-status.ts';
import { DeploymentSource, SourceRevisionConfig } from './sources.ts';

export const Revision = Type.Object(
  {
    id: Uuid,
    status: RevisionStatus,
    /** The reason of a failure, with the last lines of the log; null otherwise. */
    status_message: Type.Union([Type.String(), Type.Null()]),
    source: DeploymentSource,
    source_revision_config: SourceRevisionConfig,
    /** Packages that the caller named as the project's. */
    tracked_packages: Type.Array(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Revision' },
);
export type Revision = Static<typeof Revision>;

export const RevisionList = Type.Object(
  { resources: Type.Array(Revision), offset: Type.Integer() },
  { $id: 'RevisionList' },
);
export type RevisionList = Static<typeof RevisionList>;

const exampleRevision: Revision = {
  id: '0192f7a0-0000-7000-8000-000000000002',
  status: 'DEPLOYED',
  status_message: null,
  source: 'local_directory',
  source_revision_config: { langgraph_config_path: 'langgraph.json' },
  tracked_packages: [],
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:05.000Z',
};

const RevisionParams = Type.Object({ deployment_id: Uuid, revision_id: Uuid });
const refusals = {
  401: UnauthorizedResponse,
  403: ForbiddenResponse,
  404: NotFoundResponse,
  422: InvalidResponse,
};

export const listRevisions = defineOperation({
  operationId: 'listRevisions',
  method: 'get',
  path: '/v2/deployments/{deployment_id}/revisions',
  summary: 'The revisions of a deployment, newest first.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:read',
  params: DeploymentParams,
  query: Type.Object({
    ...deploymentPage,
    status: Type.Optional(Type.String({ description: 'Statuses, separated by commas.' })),
    remote_reconciled: Type.Optional(
      Type.Boolean({ description: 'Whether a listener, and not the platform itself, runs the deployment.' }),
    ),
  }),
  responses: {
    200: {
      description: 'A page of revisions.',
      schema: RevisionList,
      example: { resources: [exampleRevision], offset: 1 },
    },
    ...refusals,
  },
});

export const createRevision = defineCreation('deployments', {
  operationId: 'createRevision',
  method: 'post',
  path: '/v2/deployments/{deployment_id}/revisions',
  summary: 'Make a new revision, whatever changes with it.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:update',
  params: DeploymentParams,
  body: DeploymentPatch,
  bodyOptional: true,
  responses: {
    201: { description: 'The new revision.', schema: Revision, example: exampleRevision },
    400: BadRequestResponse,
    ...refusals,
  },
  examples: { body: {} },
});

export const getRevision = defineOperation({
  operationId: 'getRevision',
  method: 'get',
  path: '/v2/deployments/{deployment_id}/revisions/{revision_id}',
  summary: 'One revision; ask again until its status is `DEPLOYED` or tells of a failure.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:read',
  params: RevisionParams,
  responses: { 200: { description: 'The revision.', schema: Revision, example: exampleRevision }, ...refusals },
});

export const redeployRevision = defineCreation('deployments', {
  operationId: 'redeployRevision',
  method: 'post',
  path: '/v2/deployments/{deployment_id}/revisions/{revision_id}/redeploy',
  summary: 'Make a new revision with the configuration of an earlier one, its secrets included.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:update',
  params: RevisionParams,
  responses: {
    200: {
      description: 'The deployment with its new latest revision.',
      schema: Deployment,
      example: exampleDeployment,
    },
    400: BadRequestResponse,
    ...refusals,
  },
});

export const interruptRevision = defineOperation({
  operationId: 'interruptRevision',
  method: 'post',
  path: '/v2/deployments/{deployment_id}/revisions/{revision_id}/interrupt',
  summary: 'End a revision that is not deployed yet. What serves goes on.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:update',
  params: RevisionParams,
  responses: {
    200: {
      description: 'The revision, INTERRUPTED. Asked again: the same.',
      schema: Revision,
      example: { ...exampleRevision, status: 'INTERRUPTED' },
    },
    400: { ...BadRequestResponse, example: { detail: 'The revision is DEPLOYED and cannot be interrupted.' } },
    ...refusals,
  },
});
