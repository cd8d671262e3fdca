import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import { OrganizationPlan, VerifyKeyRequest, VerifyKeyResponse } from '../internal/principal.ts';
import { ForbiddenResponse, InvalidResponse, NotFoundResponse, UnauthorizedResponse } from './responses.ts';
import { TaggedResourceType } from './tags.ts';

export const verifyKey = defineOperation({
  operationId: 'verifyKey',
  method: 'post',
  path: '/internal/keys/verify',
  summary: 'Is this key good here, and a principal token for one audience.',
  tags: ['internal'],
  access: 'internal',
  body: VerifyKeyRequest,
  responses: {
    200: { description: 'The key is good.', schema: VerifyKeyResponse },
    401: { ...UnauthorizedResponse, description: 'Unknown, revoked or expired.' },
    403: { ...ForbiddenResponse, description: 'The key does not reach the workspace asked for.' },
    422: InvalidResponse,
  },
  examples: { body: { key: 'lsv2_sk_<the key>', audience: 'control-plane' } },
});

export const ReachRequest = Type.Object(
  {
    organization_id: Uuid,
    /** Missing: the question is only whether the identity exists. */
    workspace_id: Type.Optional(Uuid),
    identity_id: Uuid,
  },
  { $id: 'ReachRequest' },
);
export type ReachRequest = Static<typeof ReachRequest>;

export const ReachResponse = Type.Object(
  {
    /** False also for an identity or a workspace that does not exist, was removed, or is of another organization. */
    reaches: Type.Boolean(),
  },
  { $id: 'ReachResponse' },
);
export type ReachResponse = Static<typeof ReachResponse>;

export const checkReach = defineOperation({
  operationId: 'checkReach',
  method: 'post',
  path: '/internal/identities/reach',
  summary: 'Does an identity that is not here itself reach a workspace, or act anywhere, at this moment.',
  tags: ['internal'],
  access: 'internal',
  body: ReachRequest,
  responses: { 200: { description: 'Whether it does.', schema: ReachResponse }, 422: InvalidResponse },
  examples: {
    body: {
      organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
      workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a002',
      identity_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a003',
    },
  },
});

export const TaggedResourcesRequest = Type.Object(
  {
    organization_id: Uuid,
    workspace_id: Uuid,
    resource_type: TaggedResourceType,
    /** The resources wanted have one of these values of each tag key. */
    tag_value_ids: Type.Array(Uuid, { maxItems: 1000 }),
  },
  { $id: 'TaggedResourcesRequest' },
);
export type TaggedResourcesRequest = Static<typeof TaggedResourcesRequest>;

export const TaggedResources = Type.Object(
  {
    /** Ids of resources that may not exist any more: who asks has to look. */
    resource_ids: Type.Array(Uuid),
  },
  { $id: 'TaggedResources' },
);
export type TaggedResources = Static<typeof TaggedResources>;

export const findTaggedResources = defineOperation({
  operationId: 'findTaggedResources',
  method: 'post',
  path: '/internal/tagged-resources',
  summary: 'The resources of a workspace that have certain tags: for each tag key one of the values given.',
  tags: ['internal'],
  access: 'internal',
  body: TaggedResourcesRequest,
  responses: { 200: { description: 'The resources.', schema: TaggedResources }, 422: InvalidResponse },
  examples: {
    body: {
      organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
      workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a002',
      resource_type: 'deployment',
      tag_value_ids: ['0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f3c02'],
    },
  },
});

export const AccessDecisionRequest = Type.Object(
  {
    organization_id: Uuid,
    workspace_id: Uuid,
    identity_id: Uuid,
    permissions: Type.Array(Type.String(), { minItems: 1, maxItems: 20 }),
    deployment_ids: Type.Array(Uuid, { maxItems: 10_000 }),
  },
  { $id: 'AccessDecisionRequest' },
);
export type AccessDecisionRequest = Static<typeof AccessDecisionRequest>;

export const AccessDecisions = Type.Object(
  {
    /** The permissions that the identity has on each deployment; those without any are left out. */
    decisions: Type.Array(Type.Object({ deployment_id: Uuid, permissions: Type.Array(Type.String()) })),
  },
  { $id: 'AccessDecisions' },
);
export type AccessDecisions = Static<typeof AccessDecisions>;

export const decideAccess = defineOperation({
  operationId: 'decideAccess',
  method: 'post',
  path: '/internal/access/decide',
  summary: 'Which permissions on certain deployments the roles of an identity and access policies leave it.',
  tags: ['internal'],
  access: 'internal',
  body: AccessDecisionRequest,
  responses: { 200: { description: 'The decisions.', schema: AccessDecisions }, 422: InvalidResponse },
  examples: {
    body: {
      organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
      workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a002',
      identity_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a003',
      permissions: ['deployments:read'],
      deployment_ids: ['d2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03'],
    },
  },
});

/** An organization with its plan, for the operator of the platform. */
export const BookedOrganization = Type.Object(
  { id: Uuid, display_name: Type.String(), plan: OrganizationPlan },
  { $id: 'BookedOrganization' },
);
export type BookedOrganization = Static<typeof BookedOrganization>;

const exampleBooked: BookedOrganization = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  display_name: 'Default',
  plan: 'plus',
};

export const listOrganizations = defineOperation({
  operationId: 'listOrganizations',
  method: 'get',
  path: '/internal/organizations',
  summary: 'Every organization of the platform and its plan, oldest first.',
  tags: ['internal'],
  access: 'internal',
  responses: {
    200: { description: 'The organizations.', schema: Type.Array(BookedOrganization), example: [exampleBooked] },
  },
});

export const setOrganizationPlan = defineOperation({
  operationId: 'setOrganizationPlan',
  method: 'put',
  path: '/internal/organizations/{organization_id}/plan',
  summary: 'Set what an organization has booked. In force a minute later at most.',
  tags: ['internal'],
  access: 'internal',
  params: Type.Object({ organization_id: Uuid }),
  body: Type.Object({ plan: OrganizationPlan }, { $id: 'OrganizationPlanChange' }),
  responses: {
    200: { description: 'The organization after the change.', schema: BookedOrganization, example: exampleBooked },
    404: { ...NotFoundResponse, example: { detail: 'Organization not found' } },
    422: InvalidResponse,
  },
  examples: { params: { organization_id: exampleBooked.id }, body: { plan: 'plus' } },
});

export const BootstrapRequest = Type.Object(
  {
    /** True when the first administrator key is revoked and replaced. */
    rotate_key: Type.Optional(Type.Boolean()),
  },
  { $id: 'BootstrapRequest' },
);
export type BootstrapRequest = Static<typeof BootstrapRequest>;

export const BootstrapResponse = Type.Object(
  {
    organization_id: Uuid,
    workspace_id: Uuid,
    /** The first administrator key; null when it was made earlier, because only its hash is stored. */
    api_key: Type.Union([Type.String(), Type.Null()]),
    /** Path at the gateway where the first administrator makes an account, once; null when there is an administrator. */
    administrator_setup_path: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'BootstrapResponse' },
);
export type BootstrapResponse = Static<typeof BootstrapResponse>;

export const bootstrap = defineOperation({
  operationId: 'bootstrap',
  method: 'post',
  path: '/internal/bootstrap',
  summary: 'Make the default organization, its first workspace and its first administrator key, once.',
  tags: ['internal'],
  access: 'internal',
  body: BootstrapRequest,
  bodyOptional: true,
  responses: { 200: { description: 'They are there.', schema: BootstrapResponse }, 422: InvalidResponse },
  examples: { body: {} },
});

export const JsonWebKeySet = Type.Object(
  { keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) },
  { $id: 'JsonWebKeySet' },
);

export const getSigningKeys = defineOperation({
  operationId: 'getSigningKeys',
  method: 'get',
  path: '/.well-known/jwks.json',
  summary: 'Public keys that principal tokens are checked with.',
  tags: ['internal'],
  access: 'public',
  responses: { 200: { description: 'A JSON Web Key Set.', schema: JsonWebKeySet } },
});
