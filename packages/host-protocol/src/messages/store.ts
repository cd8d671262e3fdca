import Type from 'typebox';
import { form, optionalOrNull, request, Use } from './message.ts';
import { ProjectFields, ProjectValue } from './values.ts';

const Namespace = Type.Array(Type.String());
const refreshTtl = optionalOrNull(Type.Boolean(), {
  description: 'Reading restarts the ttl; default: as the store does.',
});
const page = { limit: optionalOrNull(Type.Number()), offset: optionalOrNull(Type.Number()) };

const StoreOperation = form(
  'StoreOperation',
  Type.Union([
    Type.Object({ kind: Type.Literal('get'), namespace: Namespace, key: Type.String(), refreshTtl }),
    Type.Object({
      kind: Type.Literal('put'),
      namespace: Namespace,
      key: Type.String(),
      value: Type.Unsafe<unknown>({ ...ProjectValue, description: 'an object; null deletes the item' }),
      index: optionalOrNull(Type.Union([Type.Literal(false), Type.Array(Type.String())])),
      ttlMinutes: optionalOrNull(Type.Number(), { description: '-1: never' }),
    }),
    Type.Object({
      kind: Type.Literal('search'),
      namespacePrefix: Namespace,
      filter: optionalOrNull(ProjectFields),
      ...page,
      query: optionalOrNull(Type.String()),
      refreshTtl,
    }),
    Type.Object({
      kind: Type.Literal('listNamespaces'),
      prefix: optionalOrNull(Namespace),
      suffix: optionalOrNull(Namespace),
      maxDepth: optionalOrNull(Type.Number()),
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
