import { AuditEvent, exampleAuditEvent } from '../http/org-access/audit-event.ts';
import { cloudEvent } from './envelope.ts';

/** Carries an event of the audit trail; the CloudEvent has the same id. Receivers can check the chain of hashes. */
export const AuditEventRecorded = cloudEvent('runyard.audit.event_recorded', AuditEvent, {
  subject: exampleAuditEvent.organization_id,
  data: exampleAuditEvent,
});
