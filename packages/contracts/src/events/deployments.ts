import Type from 'typebox';
import { DeploymentRoute } from '../http/internal/routes.ts';
import { cloudEvent } from './envelope.ts';

const deployment = {
  deployment_id: 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03',
  workspace_id: '3c2b1a09-8f7e-4d6c-9b5a-4f3e2d1c0b06',
  organization_id: '7d7c1a52-9d3f-4f0a-8a52-6a2f3f0f9b01',
};
const revisionId = 'e4f5a6b7-c8d9-4e0f-8a1b-2c3d4e5f6a07';
const subject = deployment.deployment_id;

const owned = {
  deployment_id: Type.String({ format: 'uuid' }),
  workspace_id: Type.String({ format: 'uuid' }),
  organization_id: Type.String({ format: 'uuid' }),
};

/** Is published before every other event of the deployment. */
export const DeploymentCreated = cloudEvent(
  'runyard.deployment.created',
  Type.Object({ ...owned, name: Type.String() }),
  { subject, data: { ...deployment, name: 'Hello agent' } },
);

/** Says that the deployment authenticates callers in another way from its newly active revision on. */
export const DeploymentAuthModeChanged = cloudEvent(
  'runyard.deployment.auth_mode_changed',
  Type.Object({
    ...owned,
    auth_mode: Type.String({
      description:
        '`platform`: callers have keys of the platform, as of a new deployment. `custom`: the project checks them itself.',
    }),
  }),
  { subject, data: { ...deployment, auth_mode: 'custom' } },
);

/**
 * Says that a deployment's route changed: it was created, a revision became active, or upstreams were added or removed.
 */
export const DeploymentRouteChanged = cloudEvent('runyard.deployment.route_changed', DeploymentRoute, {
  subject,
  data: {
    ...deployment,
    name: 'Hello agent',
    slug: 'hello-agent',
    upstreams: ['http://127.0.0.1:8123'],
    active_revision_id: revisionId,
    has_custom_auth: false,
    version: 3,
  },
});

export const DeploymentDeleted = cloudEvent(
  'runyard.deployment.deleted',
  Type.Object({ ...owned, version: Type.Integer() }),
  { subject, data: { ...deployment, version: 4 } },
);

export const RevisionStatusChanged = cloudEvent(
  'runyard.revision.status_changed',
  Type.Object({
    deployment_id: Type.String({ format: 'uuid' }),
    revision_id: Type.String({ format: 'uuid' }),
    status: Type.String(),
  }),
  { subject, data: { deployment_id: deployment.deployment_id, revision_id: revisionId, status: 'DEPLOYED' } },
);
