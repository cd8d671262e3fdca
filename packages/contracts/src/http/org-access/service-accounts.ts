import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import type { OperationPermission } from '../../permissions.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { ForbiddenResponse, InvalidResponse, NotFoundResponse, UnauthorizedResponse } from './responses.ts';

/** Unknown fields are refused: a misspelt limit must not make an account without one. */
export const ServiceAccountCreate = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 500 }),
    /** Workspaces in which it works; null or missing: the whole organization, including future workspaces. */
    workspaces: Type.Optional(
      Nullable(
        Type.Array(
          Type.Object(
            {
              workspace_id: Uuid,
              /** Its role there. Default: admin. */
              role_id: Type.Optional(Nullable(Uuid)),
            },
            { additionalProperties: false },
          ),
          { minItems: 1, maxItems: 100 },
        ),
      ),
    ),
    /** Its role in the organization. Default: user. */
    org_role_id: Type.Optional(Nullable(Uuid)),
  },
  { $id: 'ServiceAccountCreate', additionalProperties: false },
);
export type ServiceAccountCreate = Static<typeof ServiceAccountCreate>;

export const ServiceAccount = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    name: Type.String(),
    org_role_id: Uuid,
    /** In the order in which they were granted; null: every workspace of the organization. */
    workspaces: Nullable(Type.Array(Type.Object({ workspace_id: Uuid, workspace_name: Type.String(), role_id: Uuid }))),
    created_at: Timestamp,
    created_by: Nullable(Uuid),
    /** The last use of any of its keys, accurate to about a minute. */
    last_used_at: Nullable(Timestamp),
  },
  { $id: 'ServiceAccount' },
);
export type ServiceAccount = Static<typeof ServiceAccount>;

const example: ServiceAccount = {
  id: '5b1e3f0a-9c1d-4d57-8f3e-7a4c1b2d3e05',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  name: 'Continuous integration',
  org_role_id: '5a7d6f2e-0000-4000-8000-000000000002',
  workspaces: [
    {
      workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
      workspace_name: 'Workspace 1',
      role_id: '5a7d6f2e-0000-4000-8000-000000000011',
    },
  ],
  created_at: '2026-11-20T12:00:00.000Z',
  created_by: null,
  last_used_at: null,
};

const PATH = '/api/v1/service-accounts';
const tags = ['service accounts'];
const refusals = { 401: UnauthorizedResponse, 403: ForbiddenResponse };
const managesKeys = (because: string): OperationPermission => ({ checkedByService: 'workspaces:manage-keys', because });

export const listServiceAccounts = defineOperation({
  operationId: 'listServiceAccounts',
  method: 'get',
  path: PATH,
  summary: 'The service accounts that the caller may manage, newest first.',
  tags,
  access: 'principal',
  permission: managesKeys('in each workspace of the account; other accounts are left out'),
  responses: {
    200: { description: 'The accounts.', schema: Type.Array(ServiceAccount), example: [example] },
    ...refusals,
  },
});

export const createServiceAccount = defineCreation('service-accounts', {
  operationId: 'createServiceAccount',
  method: 'post',
  path: PATH,
  summary: 'Make a service account. It acts with the keys that are made for it, and stays without any.',
  tags,
  access: 'principal',
  permission: managesKeys('in each workspace of the account; only administrators make those of the whole organization'),
  body: ServiceAccountCreate,
  responses: {
    200: { description: 'The new account.', schema: ServiceAccount, example },
    ...refusals,
    422: InvalidResponse,
  },
  examples: { body: { name: 'Continuous integration' } },
});

export const deleteServiceAccount = defineOperation({
  operationId: 'deleteServiceAccount',
  method: 'delete',
  path: `${PATH}/{service_account_id}`,
  summary: 'Delete a service account, and revoke all its keys.',
  tags,
  access: 'principal',
  permission: managesKeys('in each workspace of the account; other accounts look as if they did not exist'),
  params: Type.Object({ service_account_id: Uuid }),
  responses: {
    200: { description: 'The account as it was.', schema: ServiceAccount, example },
    ...refusals,
    404: { ...NotFoundResponse, example: { detail: 'Service account not found' } },
    422: InvalidResponse,
  },
});
