import {
  DeploymentAuthModeChanged,
  DeploymentCreated,
  DeploymentDeleted,
  type DeploymentRoute,
  DeploymentRouteChanged,
  RevisionStatusChanged,
} from '@runyard/contracts';
import type { Deployment, Prisma } from '../generated/client.ts';
import { record } from './record.ts';

/** Records the events of this service in its outbox. Each is written in the transaction that makes it true. */
export const deploymentEvents = {
  created: (transaction: Prisma.TransactionClient, deployment: Deployment) =>
    record(transaction, DeploymentCreated, deployment.id, { ...ownersOf(deployment), name: deployment.name }),

  authModeChanged: (transaction: Prisma.TransactionClient, deployment: Deployment) =>
    record(transaction, DeploymentAuthModeChanged, deployment.id, {
      ...ownersOf(deployment),
      auth_mode: deployment.hasCustomAuth ? 'custom' : 'platform',
    }),

  routeChanged: (transaction: Prisma.TransactionClient, deployment: Deployment) =>
    record(transaction, DeploymentRouteChanged, deployment.id, routeOf(deployment)),

  deleted: (transaction: Prisma.TransactionClient, deployment: Deployment) =>
    record(transaction, DeploymentDeleted, deployment.id, {
      ...ownersOf(deployment),
      version: Number(deployment.routeVersion),
    }),

  revisionStatusChanged: (
    transaction: Prisma.TransactionClient,
    revision: { id: string; deploymentId: string; status: string },
  ) =>
    record(transaction, RevisionStatusChanged, revision.deploymentId, {
      deployment_id: revision.deploymentId,
      revision_id: revision.id,
      status: revision.status,
    }),
};

function ownersOf({ id, workspaceId, organizationId }: Deployment) {
  return { deployment_id: id, workspace_id: workspaceId, organization_id: organizationId };
}

export function routeOf(deployment: Deployment): DeploymentRoute {
  return {
    deployment_id: deployment.id,
    name: deployment.name,
    slug: deployment.slug,
    custom_host: deployment.customHost,
    workspace_id: deployment.workspaceId,
    organization_id: deployment.organizationId,
    upstreams: deployment.upstreams,
    active_revision_id: deployment.activeRevisionId,
    has_custom_auth: deployment.hasCustomAuth,
    mount_prefix: deployment.mountPrefixRevisionId === deployment.activeRevisionId ? deployment.mountPrefix : null,
    version: Number(deployment.routeVersion),
  };
}
