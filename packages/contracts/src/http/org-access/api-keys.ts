import Type, { type Static, type TObject } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import type { OperationPermission, PermissionRefusal } from '../../permissions.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import { ForbiddenResponse, InvalidResponse, NotFoundResponse, UnauthorizedResponse } from './responses.ts';

const description = Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 500 })));
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
  },
  { $id: 'ServiceKeyCreate', ...closed },
);
export type ServiceKeyCreate = Static<typeof ServiceKeyCreate>;

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
  /** Null: every workspace of the organization. */
  workspace_names: Nullable(Type.Array(Type.String())),
};

export const ApiKey = Type.Object(keyFields, { $id: 'ApiKey' });
export type ApiKey = Static<typeof ApiKey>;
export const ApiKeyList = Type.Array(ApiKey, { $id: 'ApiKeyList' });

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
};
const exampleIssued = { ...exampleKey, key: 'lsv2_sk_<the key, shown this once>' };

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
        200: { description: 'The new key.', schema: IssuedApiKey, example: exampleIssued },
        401: UnauthorizedResponse,
        403: ForbiddenResponse,
        422: InvalidResponse,
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
        401: UnauthorizedResponse,
        403: ForbiddenResponse,
        404: NotFoundResponse,
        422: InvalidResponse,
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
