import Type, { type Static, type TObject } from 'typebox';
import { defineOperation, type OperationResponse } from '../../operation.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import {
  conflictResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

/**
 * The kinds of resources that are tagged. Runyard itself has deployments, workspaces and service keys; tags of others are
 * stored for clients.
 */
export const TaggedResourceType = Type.Union(
  [
    Type.Literal('agent'),
    Type.Literal('dashboard'),
    Type.Literal('dataset'),
    Type.Literal('deployment'),
    Type.Literal('evaluator'),
    Type.Literal('experiment'),
    Type.Literal('fleet_integration'),
    Type.Literal('mcp_server'),
    Type.Literal('project'),
    Type.Literal('prompt'),
    Type.Literal('queue'),
    Type.Literal('sandbox'),
    Type.Literal('service_key'),
    Type.Literal('skill'),
    Type.Literal('workspace'),
  ],
  { $id: 'TaggedResourceType' },
);
export type TaggedResourceType = Static<typeof TaggedResourceType>;

const name = Type.String({ minLength: 1, maxLength: 255 });
const description = OptionalNullable(Type.String({ maxLength: 1000 }));
const stored = { id: Uuid, description: Nullable(Type.String()), created_at: Timestamp, updated_at: Timestamp };

export const TagKey = Type.Object({ ...stored, key: Type.String() }, { $id: 'TagKey' });
export type TagKey = Static<typeof TagKey>;
export const TagValue = Type.Object({ ...stored, tag_key_id: Uuid, value: Type.String() }, { $id: 'TagValue' });
export type TagValue = Static<typeof TagValue>;

export const Tagging = Type.Object(
  { id: Uuid, tag_value_id: Uuid, resource_type: TaggedResourceType, resource_id: Uuid, created_at: Timestamp },
  { $id: 'Tagging' },
);
export type Tagging = Static<typeof Tagging>;

export const TagKeyWithValues = Type.Object(
  { ...TagKey.properties, values: Type.Array(TagValue) },
  { $id: 'TagKeyWithValues' },
);
export type TagKeyWithValues = Static<typeof TagKeyWithValues>;

export const ResourceTag = Type.Object(
  {
    ...TagKey.properties,
    values: Type.Array(Type.Object({ ...TagValue.properties, taggings: Type.Array(Tagging) })),
  },
  { $id: 'ResourceTag' },
);
export type ResourceTag = Static<typeof ResourceTag>;

export const TagKeyCreate = Type.Object({ key: name, description }, { $id: 'TagKeyCreate' });
export type TagKeyCreate = Static<typeof TagKeyCreate>;
/** A missing field changes nothing; `description: null` clears it. */
export const TagKeyUpdate = Type.Object({ key: Type.Optional(name), description }, { $id: 'TagKeyUpdate' });
export type TagKeyUpdate = Static<typeof TagKeyUpdate>;
export const TagValueCreate = Type.Object({ value: name, description }, { $id: 'TagValueCreate' });
export type TagValueCreate = Static<typeof TagValueCreate>;
/** A missing field changes nothing; `description: null` clears it. */
export const TagValueUpdate = Type.Object({ value: Type.Optional(name), description }, { $id: 'TagValueUpdate' });
export type TagValueUpdate = Static<typeof TagValueUpdate>;
/** Other fields, such as the empty ones that the Terraform provider sends, are ignored. */
export const TaggingCreate = Type.Object(
  { tag_value_id: Uuid, resource_type: TaggedResourceType, resource_id: Uuid },
  { $id: 'TaggingCreate' },
);
export type TaggingCreate = Static<typeof TaggingCreate>;

const times = { created_at: '2026-11-20T12:00:00.000Z', updated_at: '2026-11-20T12:00:00.000Z' };
const exampleKey: TagKey = {
  id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f3c01',
  key: 'Environment',
  description: null,
  ...times,
};
const exampleValue: TagValue = {
  id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f3c02',
  tag_key_id: exampleKey.id,
  value: 'production',
  description: null,
  ...times,
};
const exampleTagging: Tagging = {
  id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f3c03',
  tag_value_id: exampleValue.id,
  resource_type: 'deployment',
  resource_id: 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03',
  created_at: times.created_at,
};

const WORKSPACE = '/api/v1/workspaces/current';
const refusals = { 401: UnauthorizedResponse, 403: ForbiddenResponse };
const missing: OperationResponse = { ...NotFoundResponse, example: { detail: 'Tag key not found' } };
const taken = conflictResponse('Tag key "Environment" already exists');
const reading = { access: 'principal', permission: 'workspaces:read' } as const;
const writing = { access: 'principal', permission: 'workspaces:manage' } as const;

/** Defines the operations on tag keys, or on the values of one. */
function tagOperations<
  const ItemParams extends TObject,
  const Create extends TObject,
  const Update extends TObject,
  const Params extends TObject = TObject,
>(kind: {
  name: string;
  noun: string;
  path: string;
  item: string;
  params?: Params;
  itemParams: ItemParams;
  create: Create;
  update: Update;
  schema: TObject;
  example: object;
  body: Static<Create>;
  change: Static<Update>;
}) {
  const answer: OperationResponse = { description: `The ${kind.noun}.`, schema: kind.schema, example: kind.example };
  const tags = ['tags'];
  const base = { ...refusals, 404: missing, 422: InvalidResponse };
  return {
    list: defineOperation({
      operationId: `list${kind.name}s`,
      method: 'get',
      path: kind.path,
      summary: `Every ${kind.noun}, oldest first.`,
      tags,
      ...reading,
      ...(kind.params && { params: kind.params }),
      responses: {
        ...base,
        200: { description: `Each ${kind.noun}.`, schema: Type.Array(kind.schema), example: [kind.example] },
      },
    }),
    create: defineOperation({
      operationId: `create${kind.name}`,
      method: 'post',
      path: kind.path,
      summary: `Make a ${kind.noun}.`,
      tags,
      ...writing,
      ...(kind.params && { params: kind.params }),
      body: kind.create,
      responses: { ...base, 200: answer, 409: taken },
      examples: { body: kind.body },
    }),
    get: defineOperation({
      operationId: `get${kind.name}`,
      method: 'get',
      path: kind.path + kind.item,
      summary: `One ${kind.noun}.`,
      tags,
      ...reading,
      params: kind.itemParams,
      responses: { ...base, 200: answer },
    }),
    update: defineOperation({
      operationId: `update${kind.name}`,
      method: 'patch',
      path: kind.path + kind.item,
      summary: `Change a ${kind.noun}.`,
      tags,
      ...writing,
      params: kind.itemParams,
      body: kind.update,
      responses: { ...base, 200: answer, 409: taken },
      examples: { body: kind.change },
    }),
    delete: defineOperation({
      operationId: `delete${kind.name}`,
      method: 'delete',
      path: kind.path + kind.item,
      summary: `Delete a ${kind.noun} and what belongs to it.`,
      tags,
      ...writing,
      params: kind.itemParams,
      responses: { ...base, 200: { ...answer, description: `The ${kind.noun} as it was.` } },
    }),
  };
}

export const tagKeyOperations = tagOperations({
  name: 'TagKey',
  noun: 'tag key',
  path: `${WORKSPACE}/tag-keys`,
  item: '/{tag_key_id}',
  itemParams: Type.Object({ tag_key_id: Uuid }),
  create: TagKeyCreate,
  update: TagKeyUpdate,
  schema: TagKey,
  example: exampleKey,
  body: { key: 'Environment', description: null },
  change: { description: 'Where it runs' },
});

export const tagValueOperations = tagOperations({
  name: 'TagValue',
  noun: 'value of a tag key',
  path: `${WORKSPACE}/tag-keys/{tag_key_id}/tag-values`,
  item: '/{tag_value_id}',
  params: Type.Object({ tag_key_id: Uuid }),
  itemParams: Type.Object({ tag_key_id: Uuid, tag_value_id: Uuid }),
  create: TagValueCreate,
  update: TagValueUpdate,
  schema: TagValue,
  example: exampleValue,
  body: { value: 'production', description: null },
  change: { description: 'Serves customers' },
});

export const createTagging = defineOperation({
  operationId: 'createTagging',
  method: 'post',
  path: `${WORKSPACE}/taggings`,
  summary: 'Put a tag on a resource.',
  tags: ['tags'],
  ...writing,
  body: TaggingCreate,
  responses: {
    200: { description: 'The tag on the resource.', schema: Tagging, example: exampleTagging },
    ...refusals,
    404: { ...missing, example: { detail: 'Tag value not found' } },
    409: conflictResponse('The resource already has this tag'),
    422: InvalidResponse,
  },
  examples: {
    body: {
      tag_value_id: exampleTagging.tag_value_id,
      resource_type: 'deployment',
      resource_id: exampleTagging.resource_id,
    },
  },
});

export const listTaggings = defineOperation({
  operationId: 'listTaggings',
  method: 'get',
  path: `${WORKSPACE}/taggings`,
  summary: 'The resources that have a tag.',
  tags: ['tags'],
  ...reading,
  query: Type.Object({ tag_value_id: Uuid }),
  responses: {
    200: {
      description: 'The tag on each resource, oldest first.',
      schema: Type.Array(Tagging),
      example: [exampleTagging],
    },
    ...refusals,
    422: InvalidResponse,
  },
  examples: { query: { tag_value_id: exampleTagging.tag_value_id } },
});

export const deleteTagging = defineOperation({
  operationId: 'deleteTagging',
  method: 'delete',
  path: `${WORKSPACE}/taggings/{tagging_id}`,
  summary: 'Take a tag off a resource.',
  tags: ['tags'],
  ...writing,
  params: Type.Object({ tagging_id: Uuid }),
  responses: {
    200: { description: 'The tag as it was on the resource.', schema: Tagging, example: exampleTagging },
    ...refusals,
    404: { ...missing, example: { detail: 'Tagging not found' } },
    422: InvalidResponse,
  },
});

export const listTags = defineOperation({
  operationId: 'listTags',
  method: 'get',
  path: `${WORKSPACE}/tags`,
  summary: 'The tag keys of the workspace with their values.',
  tags: ['tags'],
  ...reading,
  responses: {
    200: {
      description: 'The tag keys, oldest first.',
      schema: Type.Array(TagKeyWithValues),
      example: [{ ...exampleKey, values: [exampleValue] }],
    },
    ...refusals,
  },
});

export const listResourceTags = defineOperation({
  operationId: 'listResourceTags',
  method: 'get',
  path: `${WORKSPACE}/tags/resource`,
  summary: 'The tags of one resource.',
  tags: ['tags'],
  ...reading,
  query: Type.Object({ resource_type: TaggedResourceType, resource_id: Uuid }),
  responses: {
    200: {
      description: 'The tag keys of which the resource has a value.',
      schema: Type.Array(ResourceTag),
      example: [{ ...exampleKey, values: [{ ...exampleValue, taggings: [exampleTagging] }] }],
    },
    ...refusals,
    422: InvalidResponse,
  },
  examples: { query: { resource_type: 'deployment', resource_id: exampleTagging.resource_id } },
});
