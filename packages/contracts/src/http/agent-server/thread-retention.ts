import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Uuid } from '../common.ts';
import { EXAMPLE_THREAD_ID, PruneStrategy, THREAD_PARAMS, Thread } from './threads.ts';

export const ThreadPruneRequest = Type.Object(
  {
    thread_ids: Type.Array(Uuid),
    strategy: Type.Optional({
      ...PruneStrategy,
      description: '`delete` removes the threads with their runs, `keep_latest` all checkpoints but the newest.',
    }),
  },
  { $id: 'ThreadPruneRequest' },
);
export type ThreadPruneRequest = Static<typeof ThreadPruneRequest>;

const ThreadPruneResponse = Type.Object({ pruned_count: Type.Integer() }, { $id: 'ThreadPruneResponse' });

const counted = { count: Type.Integer(), bytes: Type.Integer() };

export const ThreadStorage = Type.Object(
  {
    thread_id: Uuid,
    total_bytes: Type.Integer({ description: 'Of all three, before compression.' }),
    checkpoints: Type.Object(counted),
    channel_values: Type.Object({
      ...counted,
      by_channel: Type.Record(Type.String(), Type.Object({ versions: Type.Integer(), bytes: Type.Integer() })),
    }),
    pending_writes: Type.Object(counted),
  },
  { $id: 'ThreadStorage' },
);
export type ThreadStorage = Static<typeof ThreadStorage>;

const invalid = { description: 'The request is not as described here.', schema: ErrorResponse };
const tags = ['Threads'];

export const copyThread = defineCreation('threads', {
  operationId: 'copyThread',
  method: 'post',
  path: '/threads/{thread_id}/copy',
  permission: 'runs:create',
  summary: 'Copy a thread with its history',
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  responses: {
    200: {
      description: 'The new thread: idle, independent of the source; of a busy source its last committed checkpoint.',
      schema: Thread,
      example: {
        thread_id: '01a1c7de-8c1b-7c3e-9d52-0a4c8d7e1f21',
        created_at: '2026-11-20T20:18:31.041459+00:00',
        updated_at: '2026-11-20T20:18:31.041459+00:00',
        state_updated_at: '2026-11-20T20:18:31.041459+00:00',
        metadata: { owner: 'ada' },
        status: 'idle',
        config: {},
        values: null,
      },
    },
    409: { description: 'There is no such thread to copy.', schema: ErrorResponse },
    422: invalid,
  },
  examples: { params: { thread_id: EXAMPLE_THREAD_ID } },
});

export const pruneThreads = defineOperation({
  operationId: 'pruneThreads',
  method: 'post',
  path: '/threads/prune',
  permission: 'runs:delete',
  summary: 'Delete threads, or all but their latest state',
  tags,
  access: 'principal',
  body: ThreadPruneRequest,
  responses: {
    200: {
      description: 'How many were pruned. Threads that do not exist or are busy are left alone and not counted.',
      schema: ThreadPruneResponse,
      example: { pruned_count: 1 },
    },
    422: invalid,
  },
  examples: { body: { thread_ids: [EXAMPLE_THREAD_ID], strategy: 'keep_latest' } },
});

export const getThreadStorage = defineOperation({
  operationId: 'getThreadStorage',
  method: 'get',
  path: '/threads/{thread_id}/storage',
  permission: 'runs:read',
  summary: 'What the checkpoints of a thread take up',
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  responses: {
    200: {
      description: 'Counts and sizes.',
      schema: ThreadStorage,
      example: {
        thread_id: EXAMPLE_THREAD_ID,
        total_bytes: 2_230,
        checkpoints: { count: 3, bytes: 1_800 },
        channel_values: { count: 2, bytes: 400, by_channel: { messages: { versions: 2, bytes: 400 } } },
        pending_writes: { count: 1, bytes: 30 },
      },
    },
    404: { description: 'No such thread.', schema: ErrorResponse },
    422: invalid,
  },
  examples: { params: { thread_id: EXAMPLE_THREAD_ID } },
});

export const THREAD_RETENTION_OPERATIONS = [copyThread, pruneThreads, getThreadStorage];
