import Type from 'typebox';
import { cloudEvent } from './envelope.ts';

const organization = Type.Object({ organization_id: Type.String({ format: 'uuid' }) });
const key = Type.Object({ ...organization.properties, key_id: Type.String({ format: 'uuid' }) });

const organizationId = '7d7c1a52-9d3f-4f0a-8a52-6a2f3f0f9b01';
const keyExample = {
  subject: organizationId,
  data: { organization_id: organizationId, key_id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f2c02' },
};

const identity = Type.Object({ ...organization.properties, identity_id: Type.String({ format: 'uuid' }) });
const identityExample = {
  subject: organizationId,
  data: { organization_id: organizationId, identity_id: '5b1e3f0a-9c1d-4d57-8f3e-7a4c1b2d3e03' },
};

export const KeyIssued = cloudEvent('runyard.key.issued', key, keyExample);
/** Lets caches drop the key at once; without the event they would use it for at most four more seconds. */
export const KeyRevoked = cloudEvent('runyard.key.revoked', key, keyExample);
/** Says that a person or a service account was removed for good. Other services may delete what they keep for it. */
export const IdentityRemoved = cloudEvent('runyard.identity.removed', identity, identityExample);
/** Says that the rights of an identity changed, or that it was disabled: caches must ask about its credentials again. */
export const IdentityChanged = cloudEvent('runyard.identity.changed', identity, identityExample);
/** Says that a session acts in another organization or has another token: caches must ask about it again. */
export const SessionChanged = cloudEvent(
  'runyard.session.changed',
  Type.Object({ session_id: Type.String({ format: 'uuid' }) }),
  { subject: organizationId, data: { session_id: '5b1e3f0a-9c1d-4d57-8f3e-7a4c1b2d3e04' } },
);
/** Says that a session ended: its credentials are no longer valid. */
export const SessionEnded = cloudEvent(
  'runyard.session.ended',
  Type.Object({ session_id: Type.String({ format: 'uuid' }) }),
  { subject: organizationId, data: { session_id: '5b1e3f0a-9c1d-4d57-8f3e-7a4c1b2d3e04' } },
);
/** Says that a workspace was deleted. Other services delete what belongs to it. */
export const WorkspaceDeleted = cloudEvent(
  'runyard.workspace.deleted',
  Type.Object({ ...organization.properties, workspace_id: Type.String({ format: 'uuid' }) }),
  {
    subject: organizationId,
    data: { organization_id: organizationId, workspace_id: '5b1e3f0a-9c1d-4d57-8f3e-7a4c1b2d3e05' },
  },
);
export const OrganizationSettingsChanged = cloudEvent('runyard.organization.settings_changed', organization, {
  subject: organizationId,
  data: { organization_id: organizationId },
});
