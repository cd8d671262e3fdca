import Type, { type Static } from 'typebox';
import { defineOperation, type OperationResponse } from '../../operation.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import { PLATFORM_PREFIXES } from './paths.ts';
import { PlatformErrorResponse } from './platform-errors.ts';
import { InvalidResponse } from './responses.ts';

/** The operator of a condition. One with `_if_exists` also holds for resources without the tag key. */
export const PolicyOperator = Type.Union(
  [
    Type.Literal('equals'),
    Type.Literal('not_equals'),
    Type.Literal('equals_ignore_case'),
    Type.Literal('not_equals_ignore_case'),
    Type.Literal('matches'),
    Type.Literal('not_matches'),
    Type.Literal('equals_if_exists'),
    Type.Literal('not_equals_if_exists'),
    Type.Literal('equals_ignore_case_if_exists'),
    Type.Literal('not_equals_ignore_case_if_exists'),
    Type.Literal('matches_if_exists'),
    Type.Literal('not_matches_if_exists'),
  ],
  { $id: 'PolicyOperator' },
);
export type PolicyOperator = Static<typeof PolicyOperator>;

/**
 * The types of resources that policies are about. Runyard itself has deployments, workspaces and service keys; policies
 * about others are stored for clients.
 */
const PolicyResourceType = Type.Union([
  Type.Literal('queue'),
  Type.Literal('dataset'),
  Type.Literal('deployment'),
  Type.Literal('fleet_integration'),
  Type.Literal('mcp_server'),
  Type.Literal('project'),
  Type.Literal('prompt'),
  Type.Literal('sandbox'),
  Type.Literal('service_key'),
  Type.Literal('workspace'),
]);

const text = Type.String({ minLength: 1, maxLength: 255 });

export const PolicyCondition = Type.Object(
  {
    attribute_name: Type.Literal('resource_tag_key'),
    /** The tag key. */
    attribute_key: text,
    operator: PolicyOperator,
    /** The tag value; for `matches` a pattern in which `*` stands for any text and `?` for one character. */
    attribute_value: Type.String({ maxLength: 255 }),
  },
  { $id: 'PolicyCondition', additionalProperties: false },
);
export type PolicyCondition = Static<typeof PolicyCondition>;

/** Holds for a permission on a resource when all its conditions do. */
export const PolicyConditionGroup = Type.Object(
  {
    resource_type: PolicyResourceType,
    /**
     * For deployments: one of those to read, change and delete them, or one of runs. For workspaces: one that begins with
     * `workspaces:`. For service keys: `workspaces:manage-keys`.
     */
    permission: Type.String({ pattern: '^[a-z_-]+:[a-z:_-]+$', maxLength: 100 }),
    conditions: Type.Array(PolicyCondition, { minItems: 1, maxItems: 20 }),
  },
  { $id: 'PolicyConditionGroup', additionalProperties: false },
);
export type PolicyConditionGroup = Static<typeof PolicyConditionGroup>;

const fields = {
  name: text,
  effect: Type.Union([Type.Literal('allow'), Type.Literal('deny')]),
  condition_groups: Type.Array(PolicyConditionGroup, { minItems: 1, maxItems: 50 }),
};
const description = OptionalNullable(Type.String({ maxLength: 1000 }));
const roleIds = Type.Array(Uuid, { maxItems: 100 });

export const AccessPolicyCreate = Type.Object(
  { ...fields, description, role_ids: Type.Optional(roleIds) },
  { $id: 'AccessPolicyCreate', additionalProperties: false },
);
export type AccessPolicyCreate = Static<typeof AccessPolicyCreate>;

/** A missing field changes nothing; `description: null` clears it. */
export const AccessPolicyUpdate = Type.Object(
  {
    name: Type.Optional(fields.name),
    effect: Type.Optional(fields.effect),
    condition_groups: Type.Optional(fields.condition_groups),
    description,
    role_ids: Type.Optional(roleIds),
  },
  { $id: 'AccessPolicyUpdate', additionalProperties: false },
);
export type AccessPolicyUpdate = Static<typeof AccessPolicyUpdate>;

export const AccessPolicy = Type.Object(
  {
    id: Uuid,
    ...fields,
    description: Nullable(Type.String()),
    /** The roles that it is attached to. */
    role_ids: Type.Array(Uuid),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'AccessPolicy' },
);
export type AccessPolicy = Static<typeof AccessPolicy>;

const AccessPolicyList = Type.Object({ access_policies: Type.Array(AccessPolicy) }, { $id: 'AccessPolicyList' });

const AccessPolicyAttachment = Type.Object(
  { access_policy_ids: Type.Array(Uuid, { minItems: 1, maxItems: 100 }) },
  { $id: 'AccessPolicyAttachment', additionalProperties: false },
);

const group: PolicyConditionGroup = {
  resource_type: 'deployment',
  permission: 'deployments:delete',
  conditions: [
    {
      attribute_name: 'resource_tag_key',
      attribute_key: 'Environment',
      operator: 'equals',
      attribute_value: 'production',
    },
  ],
};
const example: AccessPolicy = {
  id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f4c01',
  name: 'Production stays',
  description: '',
  effect: 'deny',
  condition_groups: [group],
  role_ids: [],
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.000Z',
};
const body = { name: 'Production stays', description: '', effect: 'deny' as const, condition_groups: [group] };

const failure = (description: string, error: string): OperationResponse => ({
  description,
  schema: PlatformErrorResponse,
  example: { error },
});
const unauthorized = failure('No valid credential.', 'Invalid API key');
const forbidden = failure('The caller may not do this.', 'Only organization administrators change access policies');
const missing = failure('Not there, or of another organization.', 'Access policy not found');
const taken: OperationResponse = {
  ...failure('A policy of the organization has this name.', 'An access policy "Production stays" already exists'),
  headers: { 'X-Should-Retry': '`false`' },
};
const refusals = { 401: unauthorized, 403: forbidden, 422: InvalidResponse };
const tags = ['access policies'];
const reads = {
  tags,
  access: 'principal',
  errors: PlatformErrorResponse,
  permission: 'organization:read',
  refusal: { detail: 'You may not read the organization', code: 'permission_missing' },
} as const;
const writes = {
  tags,
  access: 'principal',
  errors: PlatformErrorResponse,
  permission: 'organization:manage',
  refusal: { detail: 'Only organization administrators change access policies', code: 'organization_admin_required' },
} as const;
const params = Type.Object({ access_policy_id: Uuid });
const roleParams = Type.Object({ role_id: Uuid });

export const accessPolicyOperations = PLATFORM_PREFIXES.map(({ prefix, alias }) => {
  const path = `${prefix}/access-policies`;
  return {
    list: defineOperation({
      ...reads,
      operationId: `listAccessPolicies${alias}`,
      method: 'get',
      path,
      summary: 'The access policies of the organization, oldest first.',
      responses: {
        200: { description: 'The policies.', schema: AccessPolicyList, example: { access_policies: [example] } },
        401: unauthorized,
        403: forbidden,
      },
    }),
    create: defineOperation({
      ...writes,
      operationId: `createAccessPolicy${alias}`,
      method: 'post',
      path,
      summary: 'Make an access policy. It has an effect once it is attached to a role.',
      body: AccessPolicyCreate,
      responses: { 201: { description: 'The new policy.', schema: AccessPolicy, example }, ...refusals, 409: taken },
      examples: { body },
    }),
    get: defineOperation({
      ...reads,
      operationId: `getAccessPolicy${alias}`,
      method: 'get',
      path: `${path}/{access_policy_id}`,
      summary: 'One access policy.',
      params,
      responses: { 200: { description: 'The policy.', schema: AccessPolicy, example }, ...refusals, 404: missing },
    }),
    update: defineOperation({
      ...writes,
      operationId: `updateAccessPolicy${alias}`,
      method: 'patch',
      path: `${path}/{access_policy_id}`,
      summary: 'Change an access policy. In force within five seconds.',
      params,
      body: AccessPolicyUpdate,
      responses: {
        200: { description: 'The policy after the change.', schema: AccessPolicy, example },
        ...refusals,
        404: missing,
        409: taken,
      },
      examples: { body: { description: null } },
    }),
    delete: defineOperation({
      ...writes,
      operationId: `deleteAccessPolicy${alias}`,
      method: 'delete',
      path: `${path}/{access_policy_id}`,
      summary: 'Delete an access policy.',
      params,
      responses: { 204: { description: 'It is gone.' }, ...refusals, 404: missing },
    }),
  };
});

/** Both paths of attachments: the present one of clients, and the one that they used before. */
const ATTACHMENTS = PLATFORM_PREFIXES.flatMap(({ prefix, alias }) => [
  { path: `${prefix}/roles/{role_id}/access-policies`, alias },
  { path: `${prefix}/access-policies/roles/{role_id}/access-policies`, alias: `${alias}Former` },
]);

export const accessPolicyAttachments = ATTACHMENTS.map(({ path, alias }) => ({
  attach: defineOperation({
    ...writes,
    operationId: `attachAccessPolicies${alias}`,
    method: 'post',
    path,
    summary: 'Attach access policies to a role. In force within five seconds.',
    params: roleParams,
    body: AccessPolicyAttachment,
    responses: { 204: { description: 'They are attached.' }, ...refusals, 404: missing },
    examples: { body: { access_policy_ids: [example.id] } },
  }),
  detach: defineOperation({
    ...writes,
    operationId: `detachAccessPolicies${alias}`,
    method: 'delete',
    path,
    summary: 'Detach access policies from a role. In force within five seconds.',
    params: roleParams,
    query: AccessPolicyAttachment,
    responses: { 204: { description: 'They are not attached.' }, ...refusals, 404: missing },
    examples: { query: { access_policy_ids: [example.id] } },
  }),
}));
