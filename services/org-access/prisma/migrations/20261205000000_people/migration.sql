-- People and what they need: settings of organizations, members, invites, sign-in, SCIM, audit, tags and policies.
-- The release before keeps running on this schema: columns are only added, and those that it does not write have
-- defaults.

ALTER TABLE organization
  ADD COLUMN sso_only boolean NOT NULL DEFAULT false,
  ADD COLUMN handle text UNIQUE,
  ADD COLUMN workspace_admin_can_invite boolean NOT NULL DEFAULT false,
  ADD COLUMN max_pat_expiry_days integer CHECK (max_pat_expiry_days > 0),
  ADD COLUMN max_service_key_expiry_days integer CHECK (max_service_key_expiry_days > 0),
  ADD COLUMN security_contact text,
  ADD COLUMN scim_group_name_separator text NOT NULL DEFAULT ':' CHECK (length(scim_group_name_separator) = 1),
  ADD COLUMN ip_allowlist text[] NOT NULL DEFAULT '{}',
  ADD COLUMN ip_allowlist_enabled boolean NOT NULL DEFAULT false;

ALTER TABLE workspace
  ADD COLUMN handle text,
  ADD COLUMN deleted_at timestamptz(3);
CREATE UNIQUE INDEX workspace_handle ON workspace (organization_id, handle) WHERE deleted_at IS NULL;

-- Manages people as an administrator does, but neither administrators nor sign-in, SCIM or custom roles.
INSERT INTO role (id, access_scope, name, display_name, description, position, permissions) VALUES
  ('5a7d6f2e-0000-4000-8000-000000000004', 'organization', 'ORGANIZATION_OPERATOR', 'Organization Operator',
   'Invites, changes and removes users and viewers of the organization.', 2,
   '{organization:manage,organization:read,organization:pats:create}');
UPDATE role SET position = 3 WHERE id = '5a7d6f2e-0000-4000-8000-000000000002';
UPDATE role SET position = 4 WHERE id = '5a7d6f2e-0000-4000-8000-000000000003';
CREATE UNIQUE INDEX role_organization_display_name ON role (organization_id, lower(display_name))
  WHERE organization_id IS NOT NULL;

CREATE TABLE person (
  id uuid PRIMARY KEY,
  email text NOT NULL UNIQUE,
  email_verified_at timestamptz(3),
  full_name text,
  avatar_url text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE sso_provider (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  protocol text NOT NULL,
  display_name text NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  default_workspace_role_id uuid NOT NULL,
  default_workspace_ids uuid[] NOT NULL,
  configuration jsonb NOT NULL,
  encrypted_client_secret text,
  attribute_mapping jsonb NOT NULL DEFAULT '{}',
  is_email_trusted boolean NOT NULL DEFAULT false,
  groups_enabled boolean NOT NULL DEFAULT false,
  groups_claim text NOT NULL DEFAULT 'groups',
  groups_required boolean NOT NULL DEFAULT false,
  groups_role_sync_enabled boolean NOT NULL DEFAULT true,
  metadata text,
  metadata_fetched_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (organization_id) REFERENCES organization (id)
);
CREATE INDEX "sso_provider_organization_id_idx" ON sso_provider (organization_id);

CREATE TABLE sso_domain (
  sso_provider_id uuid NOT NULL,
  domain text NOT NULL,
  FOREIGN KEY (sso_provider_id) REFERENCES sso_provider (id) ON DELETE CASCADE,
  PRIMARY KEY (sso_provider_id, domain)
);
CREATE INDEX "sso_domain_domain_idx" ON sso_domain (domain);

CREATE TABLE login (
  id uuid PRIMARY KEY,
  person_id uuid NOT NULL,
  provider text NOT NULL,
  sso_provider_id uuid,
  issuer text NOT NULL,
  subject text NOT NULL,
  email text NOT NULL,
  provisioning text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE,
  FOREIGN KEY (sso_provider_id) REFERENCES sso_provider (id) ON DELETE CASCADE,
  UNIQUE (sso_provider_id, issuer, subject)
);
CREATE INDEX "login_person_id_idx" ON login (person_id);
CREATE INDEX "login_sso_provider_id_idx" ON login (sso_provider_id);

CREATE TABLE session (
  id uuid PRIMARY KEY,
  person_id uuid NOT NULL,
  login_id uuid,
  token_sha256 bytea NOT NULL UNIQUE,
  previous_token_sha256 bytea UNIQUE,
  rotated_at timestamptz(3),
  sso_organization_id uuid,
  sso_provider_id uuid,
  provider_session_id text,
  provider_subject text,
  encrypted_id_token text,
  organization_id uuid,
  address text,
  user_agent text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_seen_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  end_reason text,
  FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE
);
CREATE INDEX "session_person_id_idx" ON session (person_id);
CREATE INDEX "session_sso_provider_id_provider_subject_idx" ON session (sso_provider_id, provider_subject);
CREATE INDEX "session_expires_at_idx" ON session (expires_at);

CREATE TABLE password_credential (
  person_id uuid PRIMARY KEY,
  hash text NOT NULL,
  changed_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE
);

CREATE TABLE totp_credential (
  person_id uuid PRIMARY KEY,
  encrypted_secret text NOT NULL,
  confirmed_at timestamptz(3),
  last_step bigint,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE
);

CREATE TABLE recovery_code (
  person_id uuid NOT NULL,
  code_sha256 bytea NOT NULL,
  used_at timestamptz(3),
  FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE,
  PRIMARY KEY (person_id, code_sha256)
);

CREATE TABLE passkey (
  id uuid PRIMARY KEY,
  person_id uuid NOT NULL,
  credential_id bytea NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE
);
CREATE INDEX "passkey_person_id_idx" ON passkey (person_id);

CREATE TABLE one_time_token (
  token_sha256 bytea PRIMARY KEY,
  purpose text NOT NULL,
  person_id uuid,
  email text,
  details jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  used_at timestamptz(3),
  FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE
);
CREATE INDEX "one_time_token_person_id_purpose_idx" ON one_time_token (person_id, purpose);
CREATE INDEX "one_time_token_expires_at_idx" ON one_time_token (expires_at);

CREATE TABLE sign_in_throttle (
  subject bytea PRIMARY KEY,
  failures integer NOT NULL,
  last_failed_at timestamptz(3) NOT NULL,
  blocked_until timestamptz(3)
);
CREATE INDEX "sign_in_throttle_last_failed_at_idx" ON sign_in_throttle (last_failed_at);

CREATE TABLE pending_sign_in (
  state_sha256 bytea PRIMARY KEY,
  sso_provider_id uuid NOT NULL,
  browser_sha256 bytea NOT NULL,
  encrypted text NOT NULL,
  return_to text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  FOREIGN KEY (sso_provider_id) REFERENCES sso_provider (id) ON DELETE CASCADE
);
CREATE INDEX "pending_sign_in_expires_at_idx" ON pending_sign_in (expires_at);

CREATE TABLE used_assertion (
  sso_provider_id uuid NOT NULL,
  assertion_id text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  FOREIGN KEY (sso_provider_id) REFERENCES sso_provider (id) ON DELETE CASCADE,
  PRIMARY KEY (sso_provider_id, assertion_id)
);
CREATE INDEX "used_assertion_expires_at_idx" ON used_assertion (expires_at);

CREATE TABLE role_grant (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  identity_id uuid NOT NULL,
  workspace_id uuid,
  role_id uuid NOT NULL,
  source text NOT NULL,
  source_id uuid,
  source_created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identity (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (role_id) REFERENCES role (id)
);
CREATE INDEX "role_grant_organization_id_identity_id_idx" ON role_grant (organization_id, identity_id);
CREATE INDEX "role_grant_organization_id_workspace_id_idx" ON role_grant (organization_id, workspace_id);
CREATE INDEX "role_grant_organization_id_source_id_idx" ON role_grant (organization_id, source_id);
CREATE INDEX "role_grant_role_id_idx" ON role_grant (role_id);

CREATE TABLE invite (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  email text NOT NULL,
  full_name text,
  organization_role_id uuid NOT NULL,
  token_sha256 bytea NOT NULL UNIQUE,
  invited_by uuid,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  outcome text,
  FOREIGN KEY (organization_id) REFERENCES organization (id)
);
CREATE INDEX "invite_email_idx" ON invite (email);
CREATE INDEX "invite_organization_id_created_at_idx" ON invite (organization_id, created_at);

CREATE TABLE invite_workspace (
  id uuid PRIMARY KEY,
  invite_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  role_id uuid NOT NULL,
  FOREIGN KEY (invite_id) REFERENCES invite (id) ON DELETE CASCADE,
  UNIQUE (invite_id, workspace_id)
);
CREATE INDEX "invite_workspace_workspace_id_idx" ON invite_workspace (workspace_id);

CREATE TABLE email_outbox (
  id uuid PRIMARY KEY,
  encrypted_content text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) NOT NULL DEFAULT now(),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX "email_outbox_next_attempt_at_idx" ON email_outbox (next_attempt_at);

CREATE TABLE scim_token (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  description text NOT NULL,
  token_sha256 bytea NOT NULL UNIQUE,
  short_token text NOT NULL,
  created_by uuid,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE INDEX "scim_token_organization_id_idx" ON scim_token (organization_id);

CREATE TABLE scim_user (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  identity_id uuid NOT NULL,
  external_id text,
  user_name text NOT NULL,
  user_name_key text NOT NULL,
  email text NOT NULL,
  is_active boolean NOT NULL,
  attributes jsonb NOT NULL DEFAULT '{}',
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (organization_id) REFERENCES organization (id),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identity (organization_id, id),
  UNIQUE (organization_id, identity_id),
  UNIQUE (organization_id, user_name_key),
  UNIQUE (organization_id, external_id)
);
CREATE INDEX "scim_user_organization_id_email_idx" ON scim_user (organization_id, email);
CREATE INDEX "scim_user_organization_id_created_at_id_idx" ON scim_user (organization_id, created_at, id);

CREATE TABLE scim_group (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  display_name text NOT NULL,
  external_id text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (organization_id) REFERENCES organization (id),
  UNIQUE (organization_id, display_name)
);
CREATE INDEX "scim_group_organization_id_external_id_idx" ON scim_group (organization_id, external_id);
CREATE INDEX "scim_group_organization_id_created_at_id_idx" ON scim_group (organization_id, created_at, id);

CREATE TABLE scim_group_member (
  group_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (group_id) REFERENCES scim_group (id) ON DELETE CASCADE,
  FOREIGN KEY (user_id) REFERENCES scim_user (id) ON DELETE CASCADE,
  PRIMARY KEY (group_id, user_id)
);
CREATE INDEX "scim_group_member_user_id_idx" ON scim_group_member (user_id);

CREATE TABLE audit_event (
  organization_id uuid NOT NULL,
  sequence bigint NOT NULL,
  id uuid NOT NULL UNIQUE,
  occurred_at timestamptz(3) NOT NULL,
  action text NOT NULL,
  actor_kind text NOT NULL,
  actor_id uuid,
  person_id uuid,
  credential_id uuid,
  address text,
  request_id text,
  operation text,
  request_method text,
  request_path text,
  resource_type text NOT NULL,
  resource_id text,
  workspace_id uuid,
  before jsonb,
  after jsonb,
  details jsonb,
  previous_hash bytea NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (organization_id, sequence)
);
CREATE INDEX "audit_event_organization_id_occurred_at_idx" ON audit_event (organization_id, occurred_at);
CREATE INDEX "audit_event_organization_id_action_sequence_idx" ON audit_event (organization_id, action, sequence);
CREATE INDEX "audit_event_organization_id_actor_id_sequence_idx" ON audit_event (organization_id, actor_id, sequence);
CREATE INDEX "audit_event_organization_id_person_id_sequence_idx" ON audit_event (organization_id, person_id, sequence);
CREATE INDEX "audit_event_organization_id_resource_id_sequence_idx" ON audit_event (organization_id, resource_id, sequence);

CREATE TABLE audit_head (
  organization_id uuid PRIMARY KEY,
  sequence bigint NOT NULL,
  hash bytea NOT NULL
);

-- It is never replaced: what it signed stays verifiable. Its private half is encrypted.
CREATE TABLE audit_key (
  kid text PRIMARY KEY,
  public_jwk jsonb NOT NULL,
  encrypted_private_jwk text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE audit_checkpoint (
  organization_id uuid NOT NULL,
  sequence bigint NOT NULL,
  hash bytea NOT NULL,
  is_retention boolean NOT NULL,
  signature text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, sequence)
);

CREATE TABLE workspace_secret (
  organization_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  key text NOT NULL,
  encrypted_value text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspace (organization_id, id) ON DELETE CASCADE,
  PRIMARY KEY (organization_id, workspace_id, key)
);

CREATE TABLE tag_key (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  key text NOT NULL,
  description text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspace (organization_id, id) ON DELETE CASCADE,
  UNIQUE (workspace_id, key)
);

CREATE TABLE tag_value (
  id uuid PRIMARY KEY,
  tag_key_id uuid NOT NULL,
  value text NOT NULL,
  description text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (tag_key_id) REFERENCES tag_key (id) ON DELETE CASCADE,
  UNIQUE (tag_key_id, value)
);

CREATE TABLE tagging (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  tag_value_id uuid NOT NULL,
  resource_type text NOT NULL,
  resource_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (tag_value_id) REFERENCES tag_value (id) ON DELETE CASCADE,
  UNIQUE (tag_value_id, resource_type, resource_id)
);
CREATE INDEX "tagging_organization_id_workspace_id_resource_type_resource_id_idx" ON tagging (organization_id, workspace_id, resource_type, resource_id);

CREATE TABLE access_policy (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  name text NOT NULL,
  description text,
  effect text NOT NULL,
  condition_groups jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (organization_id) REFERENCES organization (id),
  UNIQUE (organization_id, name)
);

CREATE TABLE role_access_policy (
  organization_id uuid NOT NULL,
  role_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  FOREIGN KEY (role_id) REFERENCES role (id) ON DELETE CASCADE,
  FOREIGN KEY (policy_id) REFERENCES access_policy (id) ON DELETE CASCADE,
  PRIMARY KEY (organization_id, role_id, policy_id)
);
CREATE INDEX "role_access_policy_policy_id_idx" ON role_access_policy (policy_id);

-- One identity of a person in an organization, so that two first sign-ins at once make one.
ALTER TABLE identity
  ADD COLUMN person_id uuid REFERENCES person (id),
  ADD COLUMN disabled_by text CHECK (disabled_by IN ('admin', 'scim', 'expired')),
  ADD COLUMN is_removed boolean NOT NULL DEFAULT false,
  ADD COLUMN shows_organization_role boolean NOT NULL DEFAULT false,
  ADD COLUMN is_standalone boolean NOT NULL DEFAULT false;
ALTER TABLE api_key ADD COLUMN created_by uuid;
CREATE UNIQUE INDEX identity_of_person ON identity (organization_id, person_id) WHERE NOT is_removed;
CREATE INDEX "identity_person_id_idx" ON identity (person_id);
-- Whether an organization has an administrator is asked at every change of roles.
CREATE INDEX identity_administrators ON identity (organization_id)
  WHERE organization_role_id = '5a7d6f2e-0000-4000-8000-000000000001' AND disabled_at IS NULL AND NOT is_removed;

ALTER TABLE member
  ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  ADD COLUMN created_at timestamptz(3) NOT NULL DEFAULT now();

-- No source gives the same role place twice.
CREATE UNIQUE INDEX role_grant_once ON role_grant (
  identity_id,
  coalesce(workspace_id, '00000000-0000-0000-0000-000000000000'),
  source,
  coalesce(source_id, '00000000-0000-0000-0000-000000000000')
);
CREATE UNIQUE INDEX invite_pending ON invite (organization_id, email) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX login_email ON login (subject) WHERE sso_provider_id IS NULL;
CREATE UNIQUE INDEX scim_group_name ON scim_group (organization_id, lower(display_name));

-- Audit events are only added. Retention removes the oldest in transactions that say so; nothing changes one.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('runyard.audit_retention', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'audit events are only added';
END
$$;
CREATE TRIGGER audit_event_append_only BEFORE UPDATE OR DELETE ON audit_event
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_event_no_truncate BEFORE TRUNCATE ON audit_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
