import Type from 'typebox';
import { cloudEvent } from './envelope.ts';

const key = { organization_id: Type.String({ format: 'uuid' }), key_id: Type.String({ format: 'uuid' }) };

export const KeyIssued = cloudEvent('runyard.key.issued', Type.Object(key));
/** Caches drop the key at once; without the event they would go on for at most four seconds. */
export const KeyRevoked = cloudEvent('runyard.key.revoked', Type.Object(key));
export const OrganizationSettingsChanged = cloudEvent(
  'runyard.organization.settings_changed',
  Type.Object({ organization_id: Type.String({ format: 'uuid' }) }),
);
