import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Timestamp } from '../common.ts';
import { Offset, QueryFlag } from './parts.ts';

const Namespace = Type.Array(Type.String());
const Null = Type.Null();

export const Item = Type.Object(
  {
    namespace: Namespace,
    key: Type.String(),
    value: JsonObject,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Item' },
);
export type Item = Static<typeof Item>;

const SearchItem = Type.Object({ ...Item.properties, score: Type.Union([Type.Number(), Null]) }, { $id: 'SearchItem' });

export const StorePutRequest = Type.Object(
  {
    namespace: Namespace,
    key: Type.String(),
    value: JsonObject,
    index: Type.Optional(
      Type.Union([Type.Literal(false), Type.Array(Type.String()), Null], {
        description:
          'What of the value is embedded for search by meaning: paths like `title` or `parts[*].text`, or false for nothing. Left out: the fields of `store.index`.',
      }),
    ),
    ttl: Type.Optional(
      Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 52_560_000 }), Type.Literal(-1), Null], {
        description: 'Minutes after which the item is gone; -1 for never. Left out: `store.ttl.default_ttl`, or never.',
      }),
    ),
  },
  { $id: 'StorePutRequest' },
);
export type StorePutRequest = Static<typeof StorePutRequest>;

export const StoreDeleteRequest = Type.Object(
  { namespace: Type.Optional(Namespace), key: Type.String() },
  { $id: 'StoreDeleteRequest' },
);
export type StoreDeleteRequest = Static<typeof StoreDeleteRequest>;

export const StoreSearchRequest = Type.Object(
  {
    namespace_prefix: Type.Optional(
      Type.Union([Namespace, Null], { description: 'Whole labels. Left out: everything.' }),
    ),
    filter: Type.Optional(
      Type.Union([JsonObject, Null], {
        description:
          'Field to value, or to operators: `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in`, `$nin`. All have to hold.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 10 })),
    offset: Type.Optional(Offset),
    query: Type.Optional(
      Type.Union([Type.String(), Null], {
        description:
          'Ranks the embedded items by how near their meaning is, nearest first, and gives their `score`. Without `store.index` it ranks nothing.',
      }),
    ),
    refresh_ttl: Type.Optional(
      Type.Union([Type.Boolean(), Null], {
        description: 'Whether the time of the items starts again. Left out: `store.ttl.refresh_on_read`.',
      }),
    ),
  },
  { $id: 'StoreSearchRequest' },
);
export type StoreSearchRequest = Static<typeof StoreSearchRequest>;

export const StoreListNamespacesRequest = Type.Object(
  {
    prefix: Type.Optional(Type.Union([Namespace, Null], { description: '`*` stands for one label.' })),
    suffix: Type.Optional(Type.Union([Namespace, Null])),
    max_depth: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }), Null], {
        description: 'Longer namespaces are cut to so many labels.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    offset: Type.Optional(Offset),
  },
  { $id: 'StoreListNamespacesRequest' },
);
export type StoreListNamespacesRequest = Static<typeof StoreListNamespacesRequest>;

const exampleItem: Item = {
  namespace: ['users', 'ada'],
  key: 'preferences',
  value: { theme: 'dark' },
  created_at: '2026-11-20T20:18:31.041459+00:00',
  updated_at: '2026-11-20T20:18:31.041459+00:00',
};
const invalid = {
  description: 'A namespace label is empty or has a period, or another field is wrong.',
  schema: ErrorResponse,
};
const notEmbedded = {
  description: 'The embeddings of the project failed; nothing was written.',
  schema: ErrorResponse,
};
const refused = { description: 'The namespace or the key is missing.', schema: ErrorResponse };
const common = { tags: ['Store'], access: 'principal' as const };

export const putItem = defineOperation({
  ...common,
  operationId: 'putItem',
  method: 'put',
  path: '/store/items',
  permission: 'runs:update',
  summary: 'Write an item',
  body: StorePutRequest,
  responses: { 204: { description: 'Written.' }, 400: refused, 422: invalid, 502: notEmbedded },
  examples: { body: { namespace: exampleItem.namespace, key: exampleItem.key, value: exampleItem.value } },
});

export const getItem = defineOperation({
  ...common,
  operationId: 'getItem',
  method: 'get',
  path: '/store/items',
  permission: 'runs:read',
  summary: 'Read an item',
  query: Type.Object({
    key: Type.Optional(Type.String()),
    namespace: Type.Optional(
      Type.Union([Type.String(), Namespace], { description: 'Labels joined by periods, or the parameter repeated.' }),
    ),
    refresh_ttl: Type.Optional(
      Type.Enum(QueryFlag.enum, {
        type: 'string',
        description: 'Whether the time of the item starts again. Left out: `store.ttl.refresh_on_read`.',
      }),
    ),
  }),
  responses: {
    200: { description: 'The item, or null.', schema: Type.Union([Item, Null]), example: exampleItem },
    400: refused,
    422: invalid,
  },
  examples: { query: { key: 'preferences', namespace: 'users.ada' } },
});

export const deleteItem = defineOperation({
  ...common,
  operationId: 'deleteItem',
  method: 'delete',
  path: '/store/items',
  permission: 'runs:update',
  summary: 'Delete an item',
  body: StoreDeleteRequest,
  responses: { 204: { description: 'Gone, whether or not it was there.' }, 400: refused, 422: invalid },
  examples: { body: { namespace: exampleItem.namespace, key: exampleItem.key } },
});

export const searchItems = defineOperation({
  ...common,
  operationId: 'searchItems',
  method: 'post',
  path: '/store/items/search',
  permission: 'runs:read',
  summary: 'Search items under a namespace',
  body: StoreSearchRequest,
  bodyOptional: true,
  responses: {
    200: {
      description: 'The items.',
      schema: Type.Object({ items: Type.Array(SearchItem) }, { $id: 'SearchItemsResponse' }),
      example: { items: [{ ...exampleItem, score: null }] },
    },
    422: invalid,
    502: notEmbedded,
  },
  examples: { body: { namespace_prefix: ['users'], filter: { theme: 'dark' } } },
});

export const listNamespaces = defineOperation({
  ...common,
  operationId: 'listNamespaces',
  method: 'post',
  path: '/store/namespaces',
  permission: 'runs:read',
  summary: 'List namespaces that hold items',
  body: StoreListNamespacesRequest,
  bodyOptional: true,
  responses: {
    200: {
      description: 'The namespaces.',
      schema: Type.Object({ namespaces: Type.Array(Namespace) }, { $id: 'ListNamespacesResponse' }),
      example: { namespaces: [['users', 'ada']] },
    },
    422: invalid,
  },
  examples: { body: { prefix: ['users', '*'], max_depth: 2 } },
});

export const STORE_OPERATIONS = [putItem, getItem, deleteItem, searchItems, listNamespaces];
