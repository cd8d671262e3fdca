import Type, { type Static, type TObject } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation, type OperationResponse } from '../../operation.ts';
import type { OperationPermission, PermissionRefusal } from '../../permissions.ts';
import { ErrorResponse, Nullable, Timestamp, Uuid } from '../common.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import { ForbiddenResponse, InvalidResponse, NotFoundResponse, UnauthorizedResponse } from './responses.ts';

const description = Type.Optional(Nullable(Type.String({ maxLength: 500 })));
const expiresAt = Type.Optional(Nullable(Timestamp));
const defaultWorkspace = Type.Optional(
  Nullable(Type.String({ format: 'uuid', description: 'Acts here when the request names no workspace.' })),
);

const readOnly = Type.Optional(
  Type.Boolean({
    description: 'True: of the permissions of its roles, whichever they are, it has those to read alone.',
  }),
);
/** Unknown fields are refused: a misspelt limit must not make a key without one. */
const closed = { additionalProperties: false } as const;

/** A service key is a separate service account with its own roles. */
export const ServiceKeyCreate = Type.Object(
  {
    description,
    read_only: readOnly,
    expires_at: expiresAt,
    /** Workspaces in which it works; null or missing: the whole organization, including future workspaces. */
    workspaces: Type.Optional(Nullable(Type.Array(Uuid, { minItems: 1, maxItems: 100 }))),
    /** Its role in those workspaces, from `GET …/roles`. Default: admin, or viewer with `read_only`. */
    role_id: Type.Optional(Nullable(Uuid)),
    /** Its role in the organization. Default: user. */
    org_role_id: Type.Optional(Nullable(Uuid)),
    default_workspace_id: defaultWorkspace,
    /** One more key of this service account, whose workspaces and roles it has: those fields are refused then. */
    service_account_id: Type.Optional(Nullable(Uuid)),
  },
  { $id: 'ServiceKeyCreate', ...closed },
);
export type ServiceKeyCreate = Static<typeof ServiceKeyCreate>;

/** New roles of a key's service account, and so of all its keys. A missing or null field changes nothing. */
export const ServiceKeyUpdate = Type.Object(
  { role_id: Type.Optional(Nullable(Uuid)), org_role_id: Type.Optional(Nullable(Uuid)) },
  { $id: 'ServiceKeyUpdate', ...closed },
);
export type ServiceKeyUpdate = Static<typeof ServiceKeyUpdate>;

/** A key that replaces another of the same service account, with its roles, workspaces and description. */
export const ServiceKeyRotation = Type.Object(
  {
    /** When the new key expires. Default: never. */
    expires_at: expiresAt,
    /** When the old key expires: now at the earliest, and not after its own `expires_at`. Default: in a day. */
    old_key_expires_at: expiresAt,
  },
  { $id: 'ServiceKeyRotation', ...closed },
);
export type ServiceKeyRotation = Static<typeof ServiceKeyRotation>;

/** A key for the caller's workspace only. */
export const WorkspaceKeyCreate = Type.Object(
  {
    description,
    read_only: readOnly,
    expires_at: expiresAt,
    role_id: Type.Optional(Nullable(Uuid)),
  },
  { $id: 'WorkspaceKeyCreate', ...closed },
);
export type WorkspaceKeyCreate = Static<typeof WorkspaceKeyCreate>;

/** A personal access token always has its owner's present permissions, or only those to read with `read_only`. */
export const PersonalTokenCreate = Type.Object(
  { description, read_only: readOnly, expires_at: expiresAt, default_workspace_id: defaultWorkspace },
  { $id: 'PersonalTokenCreate', ...closed },
);
export type PersonalTokenCreate = Static<typeof PersonalTokenCreate>;

const keyFields = {
  id: Uuid,
  /** The beginning and the end of the key: enough to recognize it, not enough to use it. */
  short_key: Type.String(),
  description: Type.String(),
  read_only: Type.Boolean(),
  created_at: Timestamp,
  expires_at: Nullable(Timestamp),
  /** The last use, accurate to about a minute. */
  last_used_at: Nullable(Timestamp),
  default_workspace_id: Nullable(Uuid),
  default_workspace_name: Nullable(Type.String()),
  /** In the order in which they were granted; null: every workspace of the organization. */
  workspace_names: Nullable(Type.Array(Type.String())),
  /** `workspace`: it works only in certain workspaces. */
  access_scope: Type.Union([Type.Literal('organization'), Type.Literal('workspace')]),
  /** The role in its workspaces; null where it has several, and for personal access tokens, which have their owner's. */
  role_id: Nullable(Uuid),
  /** The role in the organization; null for keys of workspaces that were made without one, and for personal tokens. */
  org_role_id: Nullable(Uuid),
  /** The identity that made it; null for the first key of an organization. */
  created_by: Nullable(Uuid),
  /** The service account that acts with it; null for personal access tokens. */
  service_account_id: Nullable(Uuid),
};

export const ApiKey = Type.Object(keyFields, { $id: 'ApiKey' });
export type ApiKey = Static<typeof ApiKey>;
const ApiKeyList = Type.Array(ApiKey, { $id: 'ApiKeyList' });

/** The only answer that contains the key itself. */
export const IssuedApiKey = Type.Object({ ...keyFields, key: Type.String() }, { $id: 'IssuedApiKey' });
export type IssuedApiKey = Static<typeof IssuedApiKey>;

const exampleKey: ApiKey = {
  id: '2c2e6a0e-58a6-4f3e-9a3b-1d8a3f7f0001',
  short_key: 'lsv2_sk_3f2a...91bc',
  description: 'Continuous integration',
  read_only: false,
  created_at: '2026-11-20T12:00:00.000Z',
  expires_at: null,
  last_used_at: null,
  default_workspace_id: null,
  default_workspace_name: null,
  workspace_names: ['Workspace 1'],
  access_scope: 'workspace',
  role_id: '5a7d6f2e-0000-4000-8000-000000000011',
  org_role_id: null,
  created_by: '5b1e3f0a-9c1d-4d57-8f3e-7a4c1b2d3e03',
  service_account_id: '5b1e3f0a-9c1d-4d57-8f3e-7a4c1b2d3e05',
};
const exampleIssued = { ...exampleKey, key: 'lsv2_sk_<the key, shown this once>' };

const issued: OperationResponse = { description: 'The new key.', schema: IssuedApiKey, example: exampleIssued };
const refusals = { 401: UnauthorizedResponse, 403: ForbiddenResponse, 422: InvalidResponse };

/** Defines the operations to create, list and delete one kind of key. */
function keyOperations<const Create extends TObject, const IdName extends string>(kind: {
  name: string;
  noun: string;
  path: string;
  idName: IdName;
  tag: string;
  create: Create;
  example: Static<Create>;
  permissions: Record<'create' | 'list' | 'delete', OperationPermission>;
  /** The refusal of callers without the permission to create one. */
  refusal?: PermissionRefusal;
}) {
  const params = Type.Object({ [kind.idName]: Uuid } as Record<IdName, typeof Uuid>);
  return {
    create: defineCreation('api-keys', {
      operationId: `create${kind.name}`,
      method: 'post',
      path: kind.path,
      summary: `Make a ${kind.noun}. The answer is the only place where the key itself is ever shown.`,
      tags: [kind.tag],
      access: 'principal',
      permission: kind.permissions.create,
      ...(kind.refusal && { refusal: kind.refusal }),
      body: kind.create,
      bodyOptional: true,
      responses: {
        200: issued,
        ...refusals,
      },
      examples: { body: kind.example },
    }),
    list: defineOperation({
      operationId: `list${kind.name}s`,
      method: 'get',
      path: kind.path,
      summary: `Every valid or expired ${kind.noun} the caller may manage, newest first.`,
      tags: [kind.tag],
      access: 'principal',
      permission: kind.permissions.list,
      responses: {
        200: { description: 'The keys.', schema: ApiKeyList, example: [exampleKey] },
        401: UnauthorizedResponse,
        403: ForbiddenResponse,
      },
    }),
    delete: defineOperation({
      operationId: `delete${kind.name}`,
      method: 'delete',
      path: `${kind.path}/{${kind.idName}}`,
      summary: `Revoke a ${kind.noun} for good.`,
      tags: [kind.tag],
      access: 'principal',
      permission: kind.permissions.delete,
      params,
      responses: {
        200: { description: 'The key as it was.', schema: ApiKey, example: exampleKey },
        ...refusals,
        404: NotFoundResponse,
      },
    }),
  };
}

const managesKeys = (because: string): OperationPermission => ({
  checkedByService: 'workspaces:manage-keys',
  because,
});
const managesWorkspaceKeys = managesKeys('as the roles of the caller are now, which may have changed since its token');

export const serviceKeyOperations = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  keyOperations({
    name: `ServiceKey${alias}`,
    noun: 'service key',
    path: `${prefix}/service-keys`,
    idName: 'api_key_id',
    tag: 'service keys',
    create: ServiceKeyCreate,
    example: { description: 'Continuous integration', expires_at: '2027-01-01T00:00:00Z' },
    permissions: {
      create: managesKeys('in each workspace of the key; only administrators make keys of the whole organization'),
      list: managesKeys('other keys are left out'),
      delete: managesKeys('other keys look as if they did not exist'),
    },
  }),
);

const managesTheKey = managesKeys('in each workspace of the key; other keys look as if they did not exist');

export const updateServiceKey = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `updateServiceKey${alias}`,
    method: 'patch',
    path: `${prefix}/service-keys/{api_key_id}`,
    summary: 'Change the roles of a service key. In force at once, also for requests that are under way.',
    tags: ['service keys'],
    access: 'principal',
    permission: managesTheKey,
    params: Type.Object({ api_key_id: Uuid }),
    body: ServiceKeyUpdate,
    responses: {
      200: { description: 'The key after the change.', schema: ApiKey, example: exampleKey },
      ...refusals,
      404: NotFoundResponse,
      409: {
        description: 'It is the first key, which stays an administrator.',
        schema: ErrorResponse,
        example: { detail: 'The roles of the first administrator key cannot be changed' },
      },
    },
    examples: { body: { role_id: '5a7d6f2e-0000-4000-8000-000000000012' } },
  }),
);

export const rotateServiceKey = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineCreation('api-keys', {
    operationId: `rotateServiceKey${alias}`,
    method: 'post',
    path: `${prefix}/service-keys/{api_key_id}/rotate`,
    summary: 'Make a new key for the service account of another, which ends a little later.',
    tags: ['service keys'],
    access: 'principal',
    permission: managesTheKey,
    params: Type.Object({ api_key_id: Uuid }),
    body: ServiceKeyRotation,
    bodyOptional: true,
    responses: {
      200: issued,
      ...refusals,
      404: NotFoundResponse,
      409: {
        description: 'The key has expired.',
        schema: ErrorResponse,
        example: { detail: 'The key has expired: make a new one' },
      },
    },
    examples: { body: {} },
  }),
);

export const personalTokenOperations = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  keyOperations({
    name: `PersonalAccessToken${alias}`,
    noun: 'personal access token',
    path: `${prefix}/personal-access-tokens`,
    idName: 'pat_id',
    tag: 'personal access tokens',
    create: PersonalTokenCreate,
    example: { description: 'My laptop' },
    permissions: { create: 'organization:pats:create', list: 'any key', delete: 'any key that writes' },
    refusal: { detail: 'Your role does not allow personal access tokens', code: 'personal_tokens_forbidden' },
  }),
);

export const workspaceKeyOperations = keyOperations({
  name: 'WorkspaceKey',
  noun: 'key of the workspace',
  path: '/api/v1/api-key',
  idName: 'api_key_id',
  tag: 'workspace keys',
  create: WorkspaceKeyCreate,
  example: { description: 'Nightly job', read_only: true },
  permissions: { create: managesWorkspaceKeys, list: managesWorkspaceKeys, delete: managesWorkspaceKeys },
});

/** The person's own tokens in the organization chosen, under an address that clients used before. */
export const ownTokenOperations = keyOperations({
  name: 'OwnAccessToken',
  noun: 'personal access token of the person who signed in',
  path: '/api/v1/api-key/current',
  idName: 'pat_id',
  tag: 'personal access tokens',
  create: PersonalTokenCreate,
  example: { description: 'My laptop' },
  permissions: { create: 'signed-in person', list: 'signed-in person', delete: 'signed-in person' },
});
