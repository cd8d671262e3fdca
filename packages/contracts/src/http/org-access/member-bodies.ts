import Type, { type Static } from 'typebox';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';

/** An email address; it is trimmed and compared in lower case. */
const EmailAddress = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^\\s*[^\\s@<>()",;:\\\\\\u0000-\\u001f]+@[^\\s@<>()",;:\\\\\\u0000-\\u001f]+\\s*$',
});

/** The most people that one request invites or adds. */
export const MEMBER_BATCH_MAX = 500;

/** A way in which a person signs in. */
export const LinkedLoginMethod = Type.Object(
  {
    /** `user_id` of other answers. */
    id: Uuid,
    /** `email`, `supabase:sso` (SAML) or `custom-oidc`. */
    provider: Type.String(),
    email: Type.String(),
    /** How the login came to be: `scim`, `saml:jit`, `oidc:jit`, `invite`, `manual` or `bootstrap`. */
    provisioning: Type.String(),
    created_at: Timestamp,
  },
  { $id: 'LinkedLoginMethod' },
);
export type LinkedLoginMethod = Static<typeof LinkedLoginMethod>;

/** A person's identity in an organization. */
export const OrgMember = Type.Object(
  {
    /** `identity_id` of paths. */
    id: Uuid,
    organization_id: Uuid,
    /** Null: the identity is one of the organization. */
    tenant_id: Type.Null(),
    access_scope: Type.Literal('organization'),
    created_at: Timestamp,
    email: Type.String(),
    full_name: Nullable(Type.String()),
    display_name: Type.String(),
    avatar_url: Nullable(Type.String()),
    /** The login that was linked first; null before the first sign-in. */
    user_id: Nullable(Uuid),
    /** The person. */
    ls_user_id: Uuid,
    linked_login_methods: Type.Array(LinkedLoginMethod),
    /** True: the person may not sign in. */
    is_disabled: Type.Boolean(),
    read_only: Type.Boolean(),
    /** The role in the organization, like `org_role_id`. */
    role_id: Uuid,
    role_name: Type.String(),
    org_role_id: Uuid,
    org_role_name: Type.String(),
    /** Workspaces in which the person has a role. Organization administrators are in all, also those not named. */
    tenant_ids: Type.Array(Uuid),
  },
  { $id: 'OrgMember' },
);
export type OrgMember = Static<typeof OrgMember>;

/** An invite that waits for its person. */
export const PendingMember = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    tenant_id: Type.Null(),
    access_scope: Type.Literal('organization'),
    created_at: Timestamp,
    expires_at: Timestamp,
    email: Type.String(),
    full_name: Nullable(Type.String()),
    read_only: Type.Boolean(),
    /** The role in the organization, like `org_role_id`. */
    role_id: Uuid,
    role_name: Type.String(),
    org_role_id: Uuid,
    org_role_name: Type.String(),
    workspace_ids: Type.Array(Uuid),
    tenant_ids: Type.Array(Uuid),
    /** The role in each of `workspace_ids`; null when it has none, or several roles. */
    workspace_role_id: Nullable(Uuid),
  },
  { $id: 'PendingMember' },
);
export type PendingMember = Static<typeof PendingMember>;

/** The result of adding a person: an invite, or with `direct` a member. */
export const NewMember = Type.Object(
  {
    ...PendingMember.properties,
    /** Null for a member. */
    expires_at: Nullable(Timestamp),
    /** False: the person is a member already, and `id` is the identity's. */
    is_pending: Type.Boolean(),
    /** The address at which the person accepts, shown in this answer alone. Null when the link was sent by email, or for a member. */
    invite_link: Nullable(Type.String()),
  },
  { $id: 'NewMember' },
);
export type NewMember = Static<typeof NewMember>;

const memberFields = {
  email: EmailAddress,
  /** The name of a person who is new; others keep theirs. */
  full_name: OptionalNullable(Type.String({ minLength: 1, maxLength: 200 })),
  /** The role in the organization. Default: user. */
  role_id: OptionalNullable(Uuid),
  /** Workspaces that the person gets into. Default: none. */
  workspace_ids: OptionalNullable(Type.Array(Uuid, { maxItems: 500 })),
  /** The role in each of them. Default: editor, or viewer with `read_only`. */
  workspace_role_id: OptionalNullable(Uuid),
  /** Deprecated; only changes the default of `workspace_role_id`. */
  read_only: OptionalNullable(Type.Boolean()),
};

export const PendingIdentityCreate = Type.Object(
  {
    ...memberFields,
    /**
     * True: makes the person a member at once, without an invite, whatever `invites_enabled` says. They get in with the
     * first sign-in of this address.
     */
    direct: OptionalNullable(Type.Boolean()),
    /** Refused (422): accounts with a password are made at `members/basic/batch`. */
    password: OptionalNullable(Type.String({ minLength: 1, maxLength: 1_024 })),
  },
  { $id: 'PendingIdentityCreate' },
);
export type PendingIdentityCreate = Static<typeof PendingIdentityCreate>;

export const BasicMemberCreate = Type.Object(
  {
    ...memberFields,
    /** Default: one is generated. */
    password: OptionalNullable(Type.String({ minLength: 1, maxLength: 1_024 })),
  },
  { $id: 'BasicMemberCreate' },
);
export type BasicMemberCreate = Static<typeof BasicMemberCreate>;

/** A member whose account was made with a password. */
export const BasicMember = Type.Object(
  {
    ...OrgMember.properties,
    /** This answer alone shows it. */
    password: Type.String(),
  },
  { $id: 'BasicMember' },
);
export type BasicMember = Static<typeof BasicMember>;

/** A link with which the password of a member is set. */
export const PasswordLink = Type.Object(
  {
    /** Works once; this answer alone shows it. */
    link: Type.String(),
    expires_at: Timestamp,
  },
  { $id: 'PasswordLink' },
);
export type PasswordLink = Static<typeof PasswordLink>;

export const MemberUpdate = Type.Object(
  {
    /** The role in the organization. */
    role_id: OptionalNullable(Uuid),
    /** For people who are in no other organization. */
    full_name: OptionalNullable(Type.String({ minLength: 1, maxLength: 200 })),
    /** For people who sign in with a password alone and are in no other organization; ends their sessions. */
    password: OptionalNullable(Type.String({ minLength: 1, maxLength: 1_024 })),
  },
  { $id: 'MemberUpdate' },
);
export type MemberUpdate = Static<typeof MemberUpdate>;

/** A member or an invite, with all that gives roles to them. */
export const EnrichedMember = Type.Object(
  {
    /** The identity, or the invite. */
    id: Uuid,
    is_pending: Type.Boolean(),
    is_disabled: Type.Boolean(),
    /** Null for an invite. */
    ls_user_id: Nullable(Uuid),
    email: Type.String(),
    display_name: Type.String(),
    avatar_url: Nullable(Type.String()),
    created_at: Timestamp,
    /** The role in the organization. */
    role_id: Uuid,
    role_name: Type.String(),
    linked_login_methods: Type.Array(Type.Object({ provider: Type.String(), provisioning: Type.String() })),
    scim_groups: Type.Array(Type.Object({ name: Type.String(), created_at: Timestamp })),
    workspace_memberships: Type.Array(
      Type.Object({
        workspace_id: Uuid,
        workspace_name: Type.String(),
        role_id: Uuid,
        role_name: Type.String(),
      }),
    ),
  },
  { $id: 'EnrichedMember' },
);
export type EnrichedMember = Static<typeof EnrichedMember>;
