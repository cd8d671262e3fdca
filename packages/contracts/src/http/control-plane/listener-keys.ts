import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { ListenerParams, listenerErrorResponses } from './listeners.ts';

const KEPT_SECONDS_MAX = 7 * 24 * 60 * 60;

/** A key that authenticates a data plane as its listener, without the key itself. */
export const ListenerKey = Type.Object(
  {
    id: Uuid,
    created_at: Timestamp,
    /** The time at which it expires because a newer one replaces it; null: it does not expire. */
    expires_at: Nullable(Timestamp),
  },
  { $id: 'ListenerKey' },
);
export type ListenerKey = Static<typeof ListenerKey>;

export const ListenerKeyCreate = Type.Object(
  {
    /** Seconds for which earlier keys stay valid, so that the data plane can be given the new one. */
    keep_former_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: KEPT_SECONDS_MAX, default: 0 })),
  },
  { $id: 'ListenerKeyCreateRequest', additionalProperties: false },
);
export type ListenerKeyCreate = Static<typeof ListenerKeyCreate>;

export const ListenerKeyCreated = Type.Object(
  {
    ...ListenerKey.properties,
    /** The value for `LISTENER_KEY` of the data plane. It is shown only once. */
    key: Type.String(),
  },
  { $id: 'ListenerKeyCreated' },
);
export type ListenerKeyCreated = Static<typeof ListenerKeyCreated>;

const ListenerKeyList = Type.Object({ resources: Type.Array(ListenerKey) }, { $id: 'ListenerKeyList' });

const exampleKey: ListenerKey = {
  id: '0192f7a0-0000-7000-8000-000000000041',
  created_at: '2026-11-20T12:00:00.000Z',
  expires_at: null,
};
const tags = ['listeners (v2)'];

export const createListenerKey = defineOperation({
  operationId: 'createListenerKey',
  method: 'post',
  path: '/v2/listeners/{listener_id}/keys',
  summary:
    'A key for the data plane of the listener, in place of those it has. It is good for the operations of data planes, of this listener alone.',
  tags,
  access: 'principal',
  permission: 'deployments:update',
  params: ListenerParams,
  body: ListenerKeyCreate,
  bodyOptional: true,
  bodyLimitBytes: 65_536,
  responses: {
    201: {
      description: 'The key, shown this once.',
      schema: ListenerKeyCreated,
      example: { ...exampleKey, key: 'rld_<the key>' },
    },
    ...listenerErrorResponses,
  },
  examples: { body: { keep_former_seconds: 3600 } },
});

export const listListenerKeys = defineOperation({
  operationId: 'listListenerKeys',
  method: 'get',
  path: '/v2/listeners/{listener_id}/keys',
  summary: 'The keys of the listener that are good, newest first.',
  tags,
  access: 'principal',
  permission: 'deployments:read',
  params: ListenerParams,
  responses: {
    200: {
      description: 'The keys, without themselves.',
      schema: ListenerKeyList,
      example: { resources: [exampleKey] },
    },
    ...listenerErrorResponses,
  },
});

export const deleteListenerKey = defineOperation({
  operationId: 'deleteListenerKey',
  method: 'delete',
  path: '/v2/listeners/{listener_id}/keys/{key_id}',
  summary: 'Revoke a key. The data plane that shows it is refused from then on.',
  tags,
  access: 'principal',
  permission: 'deployments:update',
  params: Type.Object({ listener_id: Uuid, key_id: Uuid }),
  responses: { 204: { description: 'It is good for nothing.' }, ...listenerErrorResponses },
});
