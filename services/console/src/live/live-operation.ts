import { defineOperation, Uuid } from '@runyard/contracts';
import Type, { type Static } from 'typebox';

/** The most threads that one browser follows at once, in all its windows. */
const THREADS_MAX = 50;

const FollowedThread = Type.Object({
  /** Names its events in the answer. */
  id: Type.String({ minLength: 1, maxLength: 100 }),
  tenant_id: Uuid,
  deployment_id: Uuid,
  thread_id: Uuid,
  channels: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 20 }),
  /** Only events after this `seq`. */
  since: Type.Optional(Type.Integer({ minimum: 0 })),
});

/** Everything that the windows of a browser follow, all together. */
export const LiveRequest = Type.Object({
  /** Workspaces whose runs are followed. */
  runs: Type.Array(Uuid, { maxItems: 10 }),
  threads: Type.Array(FollowedThread, { maxItems: THREADS_MAX }),
});
export type LiveRequest = Static<typeof LiveRequest>;

export const openLive = defineOperation({
  operationId: 'openLive',
  method: 'post',
  path: '/live',
  summary: 'Everything that a browser follows, in one stream.',
  tags: ['Console'],
  access: 'public',
  body: LiveRequest,
  bodyLimitBytes: 65_536,
  responses: { 200: { description: 'Server-sent events.', contentType: 'text/event-stream', schema: Type.String() } },
});
