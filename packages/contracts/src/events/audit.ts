import { AuditEvent, exampleAuditEvent } from '../http/org-access/audit-event.ts';
import { cloudEvent } from './envelope.ts';

/**
 * Carries an event of the audit trail; the CloudEvent has the same id. Receivers can check the chain of hashes. One of more
 * than 256 KiB is without its content: `details.left_out_bytes` says so, and the trail has the event that `hash` is of.
 */
export const AuditEventRecorded = cloudEvent('runyard.audit.event_recorded', AuditEvent, {
  subject: exampleAuditEvent.organization_id,
  data: exampleAuditEvent,
});
