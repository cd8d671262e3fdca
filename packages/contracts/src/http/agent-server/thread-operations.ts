import Type from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse } from '../common.ts';
import { PAGINATION_HEADERS, QueryList } from './parts.ts';
import {
  EXAMPLE_THREAD,
  EXAMPLE_THREAD_ID,
  SuperstepError,
  THREAD_PARAMS,
  Thread,
  ThreadCountRequest,
  ThreadCreate,
  ThreadPatch,
  ThreadSearchRequest,
} from './threads.ts';

const notFound = { description: 'No such thread.', schema: ErrorResponse };
const invalid = { description: 'The request is not as described here.', schema: ErrorResponse };
const tags = ['Threads'];

export const createThread = defineCreation('threads', {
  operationId: 'createThread',
  method: 'post',
  path: '/threads',
  permission: 'runs:create',
  summary: 'Create a thread',
  tags,
  access: 'principal',
  body: ThreadCreate,
  bodyOptional: true,
  responses: {
    200: { description: 'The thread.', schema: Thread, example: EXAMPLE_THREAD },
    400: { description: 'The supersteps name no graph or an unknown node; nothing was made.', schema: SuperstepError },
    409: { description: 'A thread with that id exists.', schema: ErrorResponse },
    422: { description: 'The request, or a value of a superstep, is not as it should be.', schema: SuperstepError },
  },
  examples: { body: { metadata: { owner: 'ada' }, if_exists: 'do_nothing' } },
});

export const searchThreads = defineOperation({
  operationId: 'searchThreads',
  method: 'post',
  path: '/threads/search',
  permission: 'runs:read',
  summary: 'Search threads',
  tags,
  access: 'principal',
  body: ThreadSearchRequest,
  bodyOptional: true,
  responses: {
    200: {
      description: 'One page of threads, most recently updated first unless sorted otherwise.',
      schema: Type.Array(Type.Partial(Thread)),
      headers: PAGINATION_HEADERS,
      example: [EXAMPLE_THREAD],
    },
    422: invalid,
  },
  examples: { body: { metadata: { owner: 'ada' }, status: 'idle', select: ['thread_id', 'status'] } },
});

export const countThreads = defineOperation({
  operationId: 'countThreads',
  method: 'post',
  path: '/threads/count',
  permission: 'runs:read',
  summary: 'Count threads',
  tags,
  access: 'principal',
  body: ThreadCountRequest,
  bodyOptional: true,
  responses: { 200: { description: 'How many match.', schema: Type.Integer(), example: 3 }, 422: invalid },
  examples: { body: { status: 'idle' } },
});

export const getThread = defineOperation({
  operationId: 'getThread',
  method: 'get',
  path: '/threads/{thread_id}',
  permission: 'runs:read',
  summary: 'Get a thread',
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  query: Type.Object({
    include: Type.Optional({ ...QueryList, description: '`ttl`: when the thread expires. Several with commas.' }),
  }),
  responses: {
    200: { description: 'The thread.', schema: Thread, example: EXAMPLE_THREAD },
    404: notFound,
    422: invalid,
  },
  examples: { params: { thread_id: EXAMPLE_THREAD_ID }, query: { include: 'ttl' } },
});

export const patchThread = defineOperation({
  operationId: 'patchThread',
  method: 'patch',
  path: '/threads/{thread_id}',
  permission: 'runs:update',
  summary: 'Merge metadata into a thread, or change how long it is kept, which needs `runs:delete` too',
  headers: { prefer: '`return=minimal` answers 204 without a body.' },
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  body: ThreadPatch,
  responses: {
    200: { description: 'The thread.', schema: Thread, example: EXAMPLE_THREAD },
    204: { description: 'Done; asked with `Prefer: return=minimal`.' },
    404: notFound,
    422: invalid,
  },
  examples: {
    params: { thread_id: EXAMPLE_THREAD_ID },
    body: { metadata: { topic: 'travel' }, ttl: { strategy: 'delete', ttl: 60 } },
  },
});

export const deleteThread = defineOperation({
  operationId: 'deleteThread',
  method: 'delete',
  path: '/threads/{thread_id}',
  permission: 'runs:delete',
  summary: 'Delete a thread with its runs and checkpoints',
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  responses: { 204: { description: 'Gone.' }, 404: notFound, 422: invalid },
  examples: { params: { thread_id: EXAMPLE_THREAD_ID } },
});

export const THREAD_OPERATIONS = [createThread, searchThreads, countThreads, getThread, patchThread, deleteThread];
