import Type from 'typebox';
import type { OperationResponse } from '../../operation.ts';
import { ErrorResponse, ServerSentEvent } from '../common.ts';
import { Run } from './runs.ts';
import { EXAMPLE_THREAD_ID } from './threads.ts';

export const exampleRun: Run = {
  run_id: '01a1c7de-9a41-7a02-8f6d-5b1e2c3d4f50',
  thread_id: EXAMPLE_THREAD_ID,
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
  created_at: '2026-11-20T20:18:31.041459+00:00',
  updated_at: '2026-11-20T20:18:31.041459+00:00',
  status: 'pending',
  metadata: { created_by: 'system', graph_id: 'echo', assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0' },
  kwargs: { input: { messages: [{ role: 'user', content: 'hi' }] }, stream_mode: ['values'] },
  multitask_strategy: 'enqueue',
  cancel_reason: null,
  langsmith_session_name: null,
};
export const exampleInput = { assistant_id: 'echo', input: { messages: [{ role: 'user', content: 'hi' }] } };
export const threadParams = { thread_id: EXAMPLE_THREAD_ID };
export const runParams = { ...threadParams, run_id: exampleRun.run_id };

const locationHeaders = {
  Location: 'Where to go on reading the answer.',
  'Content-Location': 'The run.',
};
export const invalidRunResponse: OperationResponse = {
  description: 'The request is not as described here.',
  schema: ErrorResponse,
};
const budgetResponse: OperationResponse = {
  description: 'A budget of the deployment is used up, and refuses with this status.',
  schema: ErrorResponse,
};
/** The reasons to refuse a run, on a thread and without one. */
export const threadRunErrorResponses: Record<number, OperationResponse> = {
  400: { description: 'Both `config.configurable` and `context` are given.', schema: ErrorResponse },
  402: budgetResponse,
  404: { description: 'No such thread or assistant.', schema: ErrorResponse },
  409: { description: 'The thread is busy and the strategy is `reject`.', schema: ErrorResponse },
  422: invalidRunResponse,
  429: {
    description: 'As many runs wait on the thread as may, or a budget of the deployment is used up.',
    schema: ErrorResponse,
  },
};
export const runErrorResponses: Record<number, OperationResponse> = {
  400: threadRunErrorResponses[400]!,
  402: budgetResponse,
  404: { description: 'No such assistant.', schema: ErrorResponse },
  422: invalidRunResponse,
  429: budgetResponse,
};
export const runNotFoundResponses: Record<number, OperationResponse> = {
  404: { description: 'No such run.', schema: ErrorResponse },
  422: invalidRunResponse,
};
export const runCreatedResponse: OperationResponse = {
  description: 'The run, accepted and durable.',
  schema: Run,
  headers: { 'Content-Location': locationHeaders['Content-Location'] },
  example: exampleRun,
};
export const runStreamResponse: OperationResponse = {
  description:
    'Server-sent events: `metadata` first, then one per chunk named for its stream mode, `error` when the run fails, `feedback` with a URL for each of `feedback_keys` when it does not.',
  contentType: 'text/event-stream',
  schema: ServerSentEvent,
  headers: locationHeaders,
  example: { event: 'metadata', data: `{"run_id":"${exampleRun.run_id}","attempt":1}` },
};
export const runValuesResponse: OperationResponse = {
  description:
    'The final values, after any number of line feeds sent as a sign of life. A failed run answers `{"__error__": {"error", "message"}}`; any other has a URL for each of `feedback_keys` under `__feedback__`.',
  schema: Type.Unknown(),
  headers: locationHeaders,
  example: { messages: [{ type: 'human', content: 'hi' }] },
};

export const threadRunOperation = { tags: ['Thread Runs'], access: 'principal' as const };
export const statelessRunOperation = { tags: ['Stateless Runs'], access: 'principal' as const };
