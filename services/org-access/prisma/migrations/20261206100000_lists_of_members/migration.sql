-- Lists and counts of members, of who has a role, and searches of the audit trail by operation and workspace read what
-- they answer with, and no other organization's rows.

CREATE INDEX identity_people ON identity (organization_id, created_at, id) INCLUDE (person_id, organization_role_id)
  WHERE kind = 'person' AND NOT is_removed;
CREATE INDEX "member_role_id_idx" ON member (role_id);
CREATE INDEX identity_everywhere_role ON identity (everywhere_role_id) WHERE everywhere_role_id IS NOT NULL;
CREATE INDEX "audit_event_organization_id_operation_sequence_idx" ON audit_event (organization_id, operation, sequence);
CREATE INDEX audit_event_workspace ON audit_event (organization_id, workspace_id, sequence)
  WHERE workspace_id IS NOT NULL;
