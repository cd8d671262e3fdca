import type { ErrorEntry } from './entry.ts';

/** Errors of org-access about organizations, workspaces and keys. */
export const ORGANIZATION_ERRORS = {
  session_not_found: {
    status: 404,
    meaning: 'The person has no such session, or it has ended.',
    remedy: 'See `GET /api/v1/sessions`.',
  },
  login_slug_taken: {
    status: 409,
    meaning:
      'Another organization has this `sso_login_slug`, or had it lately: links to it must not change their owner.',
    remedy: 'Choose another one.',
  },
  role_or_workspace_unknown: {
    status: 422,
    meaning: 'The id of a role or a workspace is not of this organization.',
    remedy: 'See `GET …/roles` and `GET /api/v1/workspaces`.',
  },
  workspace_invites_disabled: {
    status: 403,
    meaning: 'Somebody of the list is not in the organization, and managers of workspaces may not invite into it.',
    remedy: 'Ask an administrator or operator to invite them, or to have `workspace_admin_can_invite_to_org` set.',
  },
  member_unknown: {
    status: 422,
    meaning: 'The person who is to get into a workspace is no member of the organization.',
    remedy: 'See `GET …/current/members/active`, or invite the person.',
  },
  role_of_administrator: {
    status: 409,
    meaning: 'Organization administrators are administrators of every workspace, whatever role they are given there.',
    remedy: 'Give the person another role in the organization first.',
  },
  permission_unknown: {
    status: 422,
    meaning: 'A custom role names a permission that roles of workspaces do not have.',
    remedy: 'See `GET /api/v1/orgs/permissions`: those of scope `workspace`.',
  },
  role_name_taken: {
    status: 409,
    meaning: 'A role of the platform or of the organization has this name, perhaps in another case of letters.',
    remedy: 'Choose another name.',
  },
  role_in_use: {
    status: 409,
    meaning: 'Members, keys, invites or identity providers have the role; `detail` names them.',
    remedy: 'Give them another role first.',
  },
  role_of_platform: {
    status: 403,
    meaning: 'Roles that every organization has cannot be changed.',
    remedy: 'Make a custom role.',
  },
  workspace_exists: {
    status: 409,
    meaning: 'A workspace has the requested id, or one of the organization has the requested handle.',
    remedy: 'Choose another one.',
  },
  workspace_needed: {
    status: 409,
    meaning:
      'The workspace is the last one of the organization, or the only default workspace of an identity provider.',
    remedy: 'Make another workspace, or give the identity provider another default workspace.',
  },
  personal_organization: {
    status: 403,
    meaning: 'A personal organization has one workspace and one member.',
    remedy: 'Make another organization.',
  },
  organization_admin_required: {
    status: 403,
    meaning: 'Only administrators of the organization may do this.',
    remedy: 'Use the key of an administrator.',
  },
  last_administrator: {
    status: 409,
    meaning: 'The last Organization Admin of an organization would be removed, demoted or disabled.',
    remedy: 'Make somebody else an Organization Admin first.',
  },
  password_refused: {
    status: 422,
    meaning: 'The password is too short, too long, or one of those that are guessed first.',
    remedy: 'Choose another one, of at least 12 characters.',
  },
  organization_creation_disabled: {
    status: 403,
    meaning: 'The installation, or the kind of session, does not let people make this kind of organization.',
    remedy: 'Have `FF_ORG_CREATION_DISABLED` or `PERSONAL_ORGS_DISABLED` set to false, or sign in without a provider.',
  },
  personal_organization_exists: {
    status: 409,
    meaning: 'The person has a personal organization, and can have one.',
    remedy: 'Use that one.',
  },
  sso_session_required: {
    status: 403,
    meaning: 'Only an administrator who signed in by single sign-on can require it of everybody.',
    remedy: "Sign in through the organization's identity provider first.",
  },
  already_member: {
    status: 409,
    meaning: 'The address is that of a member of the organization, who may be disabled.',
    remedy: 'Change the role of the member instead, or enable them.',
  },
  role_decided_by_group: {
    status: 409,
    meaning: 'A group that the identity provider keeps by SCIM gives the role, and wins over roles given by hand.',
    remedy: 'Change the membership of that group at the identity provider.',
  },
  invites_disabled: {
    status: 403,
    meaning: "The organization's setting `invites_enabled` forbids invites. Pending ones work again once it is set.",
    remedy: 'Have the setting changed, or add the person with `direct`.',
  },
  person_of_other_organizations: {
    status: 403,
    meaning: 'A person who took up a membership of another organization too would be changed in what that one shows.',
    remedy: 'Ask the person to change it.',
  },
  password_of_person: {
    status: 409,
    meaning:
      'The account is not of this organization: its person took up a membership of another one, signs in by an identity provider or has a passkey, or the account was made elsewhere. Or it is the own one of the caller.',
    remedy:
      'Ask the person to change it, or to sign in by the provider. The own password is changed at `/auth/account`.',
  },
  second_factors_of_person: {
    status: 409,
    meaning:
      'The account is not of this organization: its person took up a membership of another one or signs in by an identity provider, or the account was made elsewhere. Or it is the own one of the caller.',
    remedy:
      'Ask the person to remove them at `/auth/account`, with a recovery code where the app or the passkey is lost.',
  },
  key_management_forbidden: {
    status: 403,
    meaning: "The caller's role does not manage keys in this workspace.",
    remedy: 'Use the key of an administrator.',
  },
  role_above_own: {
    status: 403,
    meaning:
      'Nobody can give a role above their own, or without the access policies that bind them, or handle members or service accounts that have one.',
    remedy: 'Give a lower one, or use the key of an administrator.',
  },
  personal_tokens_forbidden: {
    status: 403,
    meaning: "The caller's role does not allow personal access tokens.",
    remedy: 'Use a service key, or another role.',
  },
  personal_tokens_disabled: {
    status: 403,
    meaning: "The organization's setting `pat_creation_disabled` forbids personal access tokens.",
    remedy: 'Use a service key, or have the setting changed.',
  },
  key_expiry_too_late: {
    status: 422,
    meaning: "The organization's `max_pat_expiry_days` or `max_service_key_expiry_days` asks for an earlier expiry.",
    remedy: 'Send an `expires_at` within that many days, or have the setting changed.',
  },
  key_ended: {
    status: 409,
    meaning: 'A key that has expired is not rotated.',
    remedy: 'Make a new key.',
  },
  first_account_fixed: {
    status: 409,
    meaning: "The first administrator key is the organization's last resort: its roles stay.",
    remedy: 'Make another key with the roles wanted.',
  },
  access_policy_exists: {
    status: 409,
    meaning: 'The organization has an access policy of this name.',
    remedy: 'Choose another name, or change that policy.',
  },
  access_policy_denies: {
    status: 403,
    meaning: "Access policies of the caller's roles deny this permission on this deployment, or do not allow it.",
    remedy: 'Use another key, or have the policy or the tags of the deployment changed.',
  },
  tag_decides_access: {
    status: 403,
    meaning: "A policy of the organization names this tag key, and policies concern one of the caller's roles.",
    remedy: 'Have an administrator of the organization change the tag.',
  },
  tag_exists: {
    status: 409,
    meaning: 'The workspace has this tag key, the key has this value, or the resource has this tag already.',
    remedy: 'Use the one that is there: `GET …/tags` lists them.',
  },
  sso_provider_not_found: {
    status: 404,
    meaning: 'The organization has no identity provider with this id.',
    remedy: 'See `GET …/sso-settings`.',
  },
  sso_provider_invalid: {
    status: 422,
    meaning: 'The settings of an identity provider do not fit together, or its metadata cannot be read.',
    remedy: 'Correct the field that `loc` names.',
  },
  sso_domain_unverified: {
    status: 422,
    meaning: 'The DNS record that shows that a domain belongs to the organization is missing.',
    remedy: 'Add the TXT record that `detail` names, and wait until it is published.',
  },
  sso_provider_from_environment: {
    status: 409,
    meaning: 'The identity provider comes from variables such as `OAUTH_ISSUER_URL`.',
    remedy: 'Change the variables, and restart org-access.',
  },
  sso_provider_required: {
    status: 409,
    meaning: 'With `sso_only`, the organization would be left without an identity provider.',
    remedy: 'Switch `sso_only` off first.',
  },
} as const satisfies Record<string, ErrorEntry>;
