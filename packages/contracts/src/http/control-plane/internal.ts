import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import { RouteSnapshot } from '../internal/routes.ts';
import { InvalidResponse } from './responses.ts';

export const getRoutes = defineOperation({
  operationId: 'getRoutes',
  method: 'get',
  path: '/internal/routes',
  summary: 'Where every deployment can be reached now; changes follow on the event bus.',
  tags: ['internal'],
  access: 'internal',
  responses: { 200: { description: 'All routes.', schema: RouteSnapshot } },
});

export const DeploymentCountRequest = Type.Object(
  {
    organization_id: Uuid,
    workspace_id: Uuid,
    /** Counts this one alone: 0 when the workspace has no such deployment. */
    deployment_id: Type.Optional(Uuid),
  },
  { $id: 'DeploymentCountRequest' },
);
export type DeploymentCountRequest = Static<typeof DeploymentCountRequest>;

export const DeploymentCount = Type.Object(
  {
    /** Deployments of the workspace that are not being deleted. */
    count: Type.Integer({ minimum: 0 }),
  },
  { $id: 'DeploymentCount' },
);
export type DeploymentCount = Static<typeof DeploymentCount>;

export const countDeployments = defineOperation({
  operationId: 'countDeployments',
  method: 'post',
  path: '/internal/deployments/count',
  summary: 'How many deployments a workspace has, or whether it has one of them.',
  tags: ['internal'],
  access: 'internal',
  body: DeploymentCountRequest,
  responses: {
    200: { description: 'Their number.', schema: DeploymentCount, example: { count: 3 } },
    422: InvalidResponse,
  },
  examples: {
    body: {
      organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
      workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
    },
  },
});

export const DeploymentUrlRequest = Type.Object(
  { url: Type.String({ maxLength: 2048, description: 'As a client wrote it.' }) },
  { $id: 'DeploymentUrlRequest' },
);
export type DeploymentUrlRequest = Static<typeof DeploymentUrlRequest>;

export const LocatedDeployment = Type.Object(
  {
    deployment_id: Uuid,
    name: Type.String(),
    workspace_id: Uuid,
    organization_id: Uuid,
    has_custom_auth: Type.Boolean(),
    mount_prefix: Type.Union([Type.String(), Type.Null()]),
    /** The part of the URL's path behind the address of the deployment; empty or with a slash at its start. */
    path: Type.String(),
  },
  { $id: 'LocatedDeployment' },
);
export type LocatedDeployment = Static<typeof LocatedDeployment>;

export const DeploymentAtUrl = Type.Object(
  {
    /** Null: the URL is none of a deployment that the gateway routes to. */
    deployment: Type.Union([LocatedDeployment, Type.Null()]),
  },
  { $id: 'DeploymentAtUrl' },
);
export type DeploymentAtUrl = Static<typeof DeploymentAtUrl>;

export const findDeploymentByUrl = defineOperation({
  operationId: 'findDeploymentByUrl',
  method: 'post',
  path: '/internal/deployments/find-by-url',
  summary: 'The deployment that clients reach by a URL.',
  tags: ['internal'],
  access: 'internal',
  body: DeploymentUrlRequest,
  responses: {
    200: { description: 'The deployment, or null.', schema: DeploymentAtUrl, example: { deployment: null } },
    422: InvalidResponse,
  },
  examples: { body: { url: 'https://runyard.example.com/deployments/support/mcp' } },
});
