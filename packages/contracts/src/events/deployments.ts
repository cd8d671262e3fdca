import Type from 'typebox';
import { DeploymentRoute } from '../http/internal/routes.ts';
import { cloudEvent } from './envelope.ts';

/** A deployment's route changed: created, a revision became active, upstreams came or went. */
export const DeploymentRouteChanged = cloudEvent('runyard.deployment.route_changed', DeploymentRoute);

export const DeploymentDeleted = cloudEvent(
  'runyard.deployment.deleted',
  Type.Object({
    deployment_id: Type.String({ format: 'uuid' }),
    workspace_id: Type.String({ format: 'uuid' }),
    organization_id: Type.String({ format: 'uuid' }),
    version: Type.Integer(),
  }),
);

export const RevisionStatusChanged = cloudEvent(
  'runyard.revision.status_changed',
  Type.Object({
    deployment_id: Type.String({ format: 'uuid' }),
    revision_id: Type.String({ format: 'uuid' }),
    status: Type.String(),
  }),
);
