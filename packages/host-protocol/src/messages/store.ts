import Type from 'typebox';
import { form, request, Use } from './message.ts';
import { ProjectFields, ProjectValue } from './values.ts';

const Namespace = Type.Array(Type.String());
const refreshTtl = Type.Optional(
  Type.Boolean({ description: 'Reading restarts the ttl; default: as the store does.' }),
);
const page = { limit: Type.Optional(Type.Number()), offset: Type.Optional(Type.Number()) };

const StoreOperation = form(
  'StoreOperation',
  Type.Union([
    Type.Object({ kind: Type.Literal('get'), namespace: Namespace, key: Type.String(), refreshTtl }),
    Type.Object({
      kind: Type.Literal('put'),
      namespace: Namespace,
      key: Type.String(),
      value: Type.Unsafe<unknown>({ ...ProjectValue, description: 'an object; null deletes the item' }),
      index: Type.Optional(Type.Union([Type.Literal(false), Type.Array(Type.String())])),
      ttlMinutes: Type.Optional(Type.Number({ description: '-1: never' })),
    }),
    Type.Object({
      kind: Type.Literal('search'),
      namespacePrefix: Namespace,
      filter: Type.Optional(ProjectFields),
      ...page,
      query: Type.Optional(Type.String()),
      refreshTtl,
    }),
    Type.Object({
      kind: Type.Literal('listNamespaces'),
      prefix: Type.Optional(Namespace),
      suffix: Type.Optional(Namespace),
      maxDepth: Type.Optional(Type.Number()),
      ...page,
    }),
  ]),
);

const StoredItem = form(
  'StoredItem',
  Type.Object({
    namespace: Namespace,
    key: Type.String(),
    value: ProjectFields,
    createdAt: Type.String({ description: 'ISO 8601 time' }),
    updatedAt: Type.String(),
    score: Type.Optional(Type.Number({ description: 'Similarity to the query, from -1 to 1.' })),
  }),
);

export const storeToParent = {
  'store.batch': request(
    'store.batch',
    { use: Use, operations: Type.Array(StoreOperation) },
    {
      answer: Type.Array(Type.Union([StoredItem, Type.Null(), Type.Array(StoredItem), Type.Array(Namespace)]), {
        description: 'in the order of the operations; null for a put',
      }),
      means: 'operations of the store of LangGraph',
    },
  ),
} as const;
