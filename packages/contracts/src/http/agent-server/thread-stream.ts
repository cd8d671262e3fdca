import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, ServerSentEvent } from '../common.ts';
import { QueryList, stringEnum } from './parts.ts';
import { EXAMPLE_THREAD_ID, THREAD_PARAMS } from './threads.ts';

/**
 * The events of a thread's stream: `run_modes` has all events of its runs, `lifecycle` only their begin and end,
 * `state_update` each write of state from outside a run.
 */
export const ThreadStreamMode = stringEnum(['lifecycle', 'run_modes', 'state_update']);
export type ThreadStreamMode = Static<typeof ThreadStreamMode>;

const modes = `Any of ${ThreadStreamMode.enum.join(', ')}: repeated, comma-separated or as a JSON list. Default \`run_modes\`.`;

const ThreadStreamQuery = Type.Object({
  stream_mode: Type.Optional({ ...QueryList, description: modes }),
  stream_modes: Type.Optional({ ...QueryList, description: 'Another spelling of `stream_mode`.' }),
});

const EXAMPLE_RUN_ID = '019aa3b0-6f0c-7e62-b8f5-4d9f4c0c7a11';

export const joinThreadStream = defineOperation({
  tags: ['Threads'],
  access: 'principal',
  operationId: 'joinThreadStream',
  method: 'get',
  path: '/threads/{thread_id}/stream',
  permission: 'runs:read',
  summary: 'Stream the output of all runs of a thread, one after the other, until the client leaves',
  headers: {
    'last-event-id':
      'What came after this event, then what comes. `-1`, `-` or `0` for all that is kept of resumable runs. Without it only what comes from now on.',
  },
  params: THREAD_PARAMS,
  query: ThreadStreamQuery,
  responses: {
    200: {
      description:
        'Server-sent events, each with an id to go on after. A run begins with `metadata` `{run_id, attempt}` and ends with `metadata` `{status: "run_done", run_id}`; a state update is `state_update` `{state, thread_id}`.',
      contentType: 'text/event-stream',
      schema: ServerSentEvent,
      headers: { Location: 'Where to go on after the connection was lost.' },
      example: {
        id: '1795206692697-0',
        event: 'metadata',
        data: `{"status":"run_done","run_id":"${EXAMPLE_RUN_ID}"}`,
      },
    },
    404: { description: 'No such thread.', schema: ErrorResponse, example: { detail: 'Thread not found' } },
    422: {
      description: 'The request is not as it should be; `detail` says where.',
      schema: ErrorResponse,
      example: { detail: 'Invalid stream mode: zap' },
    },
  },
  examples: { params: { thread_id: EXAMPLE_THREAD_ID }, query: { stream_mode: 'run_modes,state_update' } },
});

export const THREAD_STREAM_OPERATIONS = [joinThreadStream];
