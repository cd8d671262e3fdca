import Type from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import {
  RunBatchCreate,
  RunCreateStateful,
  RunCreateStateless,
  RunCreateStreamingStateful,
  RunCreateStreamingStateless,
} from './run-bodies.ts';
import {
  exampleInput,
  exampleRun,
  runCreatedResponse,
  runErrorResponses,
  runStreamResponse,
  runValuesResponse,
  statelessRunOperation,
  threadParams,
  threadRunErrorResponses,
  threadRunOperation,
} from './run-responses.ts';
import { Run, RunWaitQuery } from './runs.ts';
import { THREAD_PARAMS } from './threads.ts';

export const createRun = defineCreation('runs', {
  ...threadRunOperation,
  operationId: 'createRun',
  method: 'post',
  path: '/threads/{thread_id}/runs',
  permission: 'runs:create',
  summary: 'Start a run in the background',
  params: THREAD_PARAMS,
  body: RunCreateStateful,
  responses: { 200: runCreatedResponse, ...threadRunErrorResponses },
  examples: { params: threadParams, body: { ...exampleInput, multitask_strategy: 'enqueue' } },
});

export const streamRun = defineCreation('runs', {
  ...threadRunOperation,
  operationId: 'streamRun',
  method: 'post',
  path: '/threads/{thread_id}/runs/stream',
  permission: 'runs:create',
  summary: 'Start a run and stream its output',
  params: THREAD_PARAMS,
  body: RunCreateStreamingStateful,
  responses: { 200: runStreamResponse, ...threadRunErrorResponses },
  examples: { params: threadParams, body: { ...exampleInput, stream_mode: ['updates', 'messages-tuple'] } },
});

export const waitRun = defineCreation('runs', {
  ...threadRunOperation,
  operationId: 'waitRun',
  method: 'post',
  path: '/threads/{thread_id}/runs/wait',
  permission: 'runs:create',
  summary: 'Start a run and wait for its result',
  params: THREAD_PARAMS,
  query: RunWaitQuery,
  body: RunCreateStreamingStateful,
  responses: { 200: runValuesResponse, ...threadRunErrorResponses },
  examples: { params: threadParams, body: exampleInput },
});

export const createStatelessRun = defineCreation('runs', {
  ...statelessRunOperation,
  operationId: 'createStatelessRun',
  method: 'post',
  path: '/runs',
  permission: 'runs:create',
  summary: 'Start a run without a thread',
  body: RunCreateStateless,
  responses: { 200: runCreatedResponse, ...runErrorResponses },
  examples: { body: exampleInput },
});

export const createRunBatch = defineCreation('runs', {
  ...statelessRunOperation,
  operationId: 'createRunBatch',
  method: 'post',
  path: '/runs/batch',
  permission: 'runs:create',
  summary: 'Start several runs without threads',
  body: RunBatchCreate,
  responses: {
    200: { description: 'The runs, in the order asked for.', schema: Type.Array(Run), example: [exampleRun] },
    ...runErrorResponses,
  },
  examples: { body: [exampleInput] },
});

export const streamStatelessRun = defineCreation('runs', {
  ...statelessRunOperation,
  operationId: 'streamStatelessRun',
  method: 'post',
  path: '/runs/stream',
  permission: 'runs:create',
  summary: 'Start a run without a thread and stream its output',
  body: RunCreateStreamingStateless,
  responses: { 200: runStreamResponse, ...runErrorResponses },
  examples: { body: { ...exampleInput, stream_mode: 'updates' } },
});

export const waitStatelessRun = defineCreation('runs', {
  ...statelessRunOperation,
  operationId: 'waitStatelessRun',
  method: 'post',
  path: '/runs/wait',
  permission: 'runs:create',
  summary: 'Start a run without a thread and wait for its result',
  query: RunWaitQuery,
  body: RunCreateStreamingStateless,
  responses: { 200: runValuesResponse, ...runErrorResponses },
  examples: { body: exampleInput },
});

export const RUN_CREATION_OPERATIONS = [
  createRun,
  streamRun,
  waitRun,
  createStatelessRun,
  createRunBatch,
  streamStatelessRun,
  waitStatelessRun,
];
