import Type from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse } from '../common.ts';
import {
  exampleRun,
  invalidRunResponse,
  runNotFoundResponses,
  runParams,
  runStreamResponse,
  runValuesResponse,
  statelessRunOperation,
  threadParams,
  threadRunOperation,
} from './run-responses.ts';
import {
  RUN_PARAMS,
  Run,
  RunCancelQuery,
  RunJoinQuery,
  RunListQuery,
  RunStreamQuery,
  RunsCancel,
  RunsCancelQuery,
  STATELESS_RUN_PARAMS,
} from './runs.ts';
import { THREAD_PARAMS } from './threads.ts';

export const listRuns = defineOperation({
  ...threadRunOperation,
  operationId: 'listRuns',
  method: 'get',
  path: '/threads/{thread_id}/runs',
  permission: 'runs:read',
  summary: 'Runs of a thread, newest first',
  params: THREAD_PARAMS,
  query: RunListQuery,
  responses: {
    200: { description: 'The runs.', schema: Type.Array(Type.Partial(Run)), example: [exampleRun] },
    ...runNotFoundResponses,
  },
  examples: { params: threadParams, query: { limit: 10, status: 'success' } },
});

export const getRun = defineOperation({
  ...threadRunOperation,
  operationId: 'getRun',
  method: 'get',
  path: '/threads/{thread_id}/runs/{run_id}',
  permission: 'runs:read',
  summary: 'Get a run',
  params: RUN_PARAMS,
  responses: { 200: { description: 'The run.', schema: Run, example: exampleRun }, ...runNotFoundResponses },
  examples: { params: runParams },
});

export const deleteRun = defineOperation({
  ...threadRunOperation,
  operationId: 'deleteRun',
  method: 'delete',
  path: '/threads/{thread_id}/runs/{run_id}',
  permission: 'runs:delete',
  summary: 'Delete a run; one that is running is stopped',
  params: RUN_PARAMS,
  responses: { 204: { description: 'Gone.' }, ...runNotFoundResponses },
  examples: { params: runParams },
});

export const joinRun = defineOperation({
  ...threadRunOperation,
  operationId: 'joinRun',
  method: 'get',
  path: '/threads/{thread_id}/runs/{run_id}/join',
  permission: 'runs:read',
  summary: 'Wait for the result of a run',
  params: RUN_PARAMS,
  query: RunJoinQuery,
  responses: {
    200: runValuesResponse,
    ...runNotFoundResponses,
    503: { description: 'The run has ended, and there is no room for its large result now.', schema: ErrorResponse },
  },
  examples: { params: runParams, query: { cancel_on_disconnect: '0' } },
});

const lastEventId =
  'With `Last-Event-ID` what came after that event, `-1` for all that is kept; without it only what comes from now on.';

export const joinRunStream = defineOperation({
  ...threadRunOperation,
  operationId: 'joinRunStream',
  method: 'get',
  path: '/threads/{thread_id}/runs/{run_id}/stream',
  permission: 'runs:read',
  summary: `Stream the output of a run. ${lastEventId}`,
  headers: { 'last-event-id': 'Only events after this one; `-1` or `0` for all that are kept.' },
  params: RUN_PARAMS,
  query: RunStreamQuery,
  responses: { 200: runStreamResponse, ...runNotFoundResponses },
  examples: { params: runParams, query: { stream_mode: 'updates,values' } },
});

export const joinRunStreamAlias = defineOperation({
  ...joinRunStream,
  operationId: 'joinRunStreamAlias',
  path: '/threads/{thread_id}/runs/{run_id}/join-stream',
});

const contended = { description: 'A deadlock with others that change the same runs.', schema: ErrorResponse };

export const cancelRun = defineOperation({
  ...threadRunOperation,
  operationId: 'cancelRun',
  method: 'post',
  path: '/threads/{thread_id}/runs/{run_id}/cancel',
  permission: 'runs:update',
  summary: 'Cancel a run; with `rollback`, which needs `runs:delete` too, it and its checkpoints go',
  params: RUN_PARAMS,
  query: RunCancelQuery,
  responses: {
    200: { description: 'With `wait`: ended; its last values.', schema: Type.Unknown(), example: {} },
    202: { description: 'Cancellation is under way, and will happen whatever else does.' },
    404: { description: 'No such run, or it is over.', schema: ErrorResponse },
    409: contended,
    422: invalidRunResponse,
  },
  examples: { params: runParams, query: { wait: '1', action: 'interrupt' } },
});

export const cancelRuns = defineOperation({
  ...threadRunOperation,
  operationId: 'cancelRuns',
  method: 'post',
  path: '/runs/cancel',
  permission: 'runs:update',
  summary: 'Cancel several runs: by status, of the whole deployment or of a thread, or by id',
  query: RunsCancelQuery,
  body: RunsCancel,
  responses: {
    204: { description: 'Cancellation is under way.' },
    404: { description: 'Nothing selected is in flight.', schema: ErrorResponse },
    409: contended,
    422: invalidRunResponse,
  },
  examples: { query: { action: 'interrupt' }, body: { status: 'pending' } },
});

export const getStatelessRun = defineOperation({
  ...statelessRunOperation,
  operationId: 'getStatelessRun',
  method: 'get',
  path: '/runs/{run_id}',
  permission: 'runs:read',
  summary: 'Get a run by its id alone',
  params: STATELESS_RUN_PARAMS,
  responses: { 200: { description: 'The run.', schema: Run, example: exampleRun }, ...runNotFoundResponses },
  examples: { params: { run_id: exampleRun.run_id } },
});

export const joinStatelessRunStream = defineOperation({
  ...statelessRunOperation,
  operationId: 'joinStatelessRunStream',
  method: 'get',
  path: '/runs/{run_id}/stream',
  permission: 'runs:read',
  summary: `Stream the output of a run by its id alone. ${lastEventId}`,
  headers: { 'last-event-id': 'Only events after this one; `-1` or `0` for all that are kept.' },
  params: STATELESS_RUN_PARAMS,
  query: RunStreamQuery,
  responses: { 200: runStreamResponse, ...runNotFoundResponses },
  examples: { params: { run_id: exampleRun.run_id } },
});

export const RUN_OPERATIONS = [
  listRuns,
  getRun,
  deleteRun,
  joinRun,
  joinRunStream,
  joinRunStreamAlias,
  cancelRun,
  cancelRuns,
  getStatelessRun,
  joinStatelessRunStream,
];
