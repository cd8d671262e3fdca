import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse } from '../common.ts';
import { CheckpointConfig, Interrupt, Limit, QueryFlag } from './parts.ts';
import { EXAMPLE_THREAD_ID, THREAD_PARAMS } from './threads.ts';

const NullableCheckpoint = Type.Union([CheckpointConfig, Type.Null()]);
const NullableString = Type.Union([Type.String(), Type.Null()]);

const ThreadTask = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    path: Type.Optional(Type.Array(Type.Unknown())),
    error: Type.Optional(NullableString),
    interrupts: Type.Array(Interrupt),
    checkpoint: Type.Optional(NullableCheckpoint),
    state: Type.Optional(Type.Unknown({ description: 'The subgraph as a ThreadState, when asked for.' })),
    result: Type.Optional(Type.Unknown()),
  },
  { $id: 'ThreadTask' },
);

export const ThreadState = Type.Object(
  {
    values: Type.Unknown(),
    next: Type.Array(Type.String(), { description: 'Nodes that run next.' }),
    tasks: Type.Array(ThreadTask),
    metadata: Type.Union([JsonObject, Type.Null()]),
    created_at: NullableString,
    checkpoint: NullableCheckpoint,
    parent_checkpoint: NullableCheckpoint,
    interrupts: Type.Array(Interrupt),
    checkpoint_id: NullableString,
    parent_checkpoint_id: NullableString,
  },
  { $id: 'ThreadState' },
);
export type ThreadState = Static<typeof ThreadState>;

export const ThreadStateUpdate = Type.Object(
  {
    values: Type.Optional(Type.Union([JsonObject, Type.Array(Type.Unknown()), Type.Null()])),
    checkpoint: Type.Optional(NullableCheckpoint),
    checkpoint_id: Type.Optional(NullableString),
    as_node: Type.Optional(NullableString),
  },
  { $id: 'ThreadStateUpdate' },
);
export type ThreadStateUpdate = Static<typeof ThreadStateUpdate>;

const ThreadStateUpdateResponse = Type.Object(
  { checkpoint: CheckpointConfig, configurable: CheckpointConfig, checkpoint_id: Type.String() },
  { $id: 'ThreadStateUpdateResponse' },
);

const SelectedField = Type.String({
  pattern:
    '^(values(\\..+)?|next|tasks|checkpoint|metadata|created_at|parent_checkpoint|interrupts|checkpoint_id|parent_checkpoint_id)$',
});
const Selected = Type.Array(SelectedField, {
  description: 'The fields to answer with; `values.<key>` for one key of the state. Left out: all.',
});

const ThreadStateCheckpointRequest = Type.Object(
  { checkpoint: CheckpointConfig, subgraphs: Type.Optional(Type.Boolean()), select: Type.Optional(Selected) },
  { $id: 'ThreadStateCheckpointRequest' },
);

/** A checkpoint as a flat object, or as `{"configurable": {…}}`. */
const BeforeCheckpoint = Type.Union([
  Type.Object({ configurable: NullableCheckpoint }),
  CheckpointConfig,
  Type.String(),
]);

export const ThreadStateSearch = Type.Object(
  {
    limit: Type.Optional(Limit(1)),
    before: Type.Optional(Type.Union([BeforeCheckpoint, Type.Null()])),
    metadata: Type.Optional(Type.Union([JsonObject, Type.Null()])),
    checkpoint: Type.Optional(NullableCheckpoint),
    select: Type.Optional(Selected),
  },
  { $id: 'ThreadStateSearch' },
);
export type ThreadStateSearch = Static<typeof ThreadStateSearch>;

const exampleCheckpoint = {
  thread_id: EXAMPLE_THREAD_ID,
  checkpoint_ns: '',
  checkpoint_id: '1f1e6c2a-6b1f-6f40-8001-3c2f0a9d4e11',
};
const exampleState: ThreadState = {
  values: { messages: [{ type: 'human', content: 'hi', id: 'm1', name: null, example: false }] },
  next: [],
  tasks: [],
  metadata: { source: 'loop', step: 1, writes: { echo: { messages: [] } }, parents: {}, graph_id: 'echo' },
  created_at: '2026-11-20T20:18:31.041459+00:00',
  checkpoint: exampleCheckpoint,
  parent_checkpoint: null,
  interrupts: [],
  checkpoint_id: exampleCheckpoint.checkpoint_id,
  parent_checkpoint_id: null,
};
const notFound = { description: 'No such thread.', schema: ErrorResponse };
const invalid = { description: 'The request is not as described here.', schema: ErrorResponse };
const tags = ['Threads'];
const params = { thread_id: EXAMPLE_THREAD_ID };
const stateAnswer = {
  description: 'The state; of it what `select` names.',
  schema: Type.Partial(ThreadState),
  example: exampleState,
};
const stateQuery = Type.Object({
  subgraphs: Type.Optional(QueryFlag),
  select: Type.Optional(Type.Union([SelectedField, Selected])),
});

export const getThreadState = defineOperation({
  operationId: 'getThreadState',
  method: 'get',
  path: '/threads/{thread_id}/state',
  permission: 'runs:read',
  summary: 'The newest state of a thread',
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  query: stateQuery,
  responses: { 200: stateAnswer, 404: notFound, 422: invalid },
  examples: { params, query: { subgraphs: 'true' } },
});

export const updateThreadState = defineCreation('threads', {
  operationId: 'updateThreadState',
  method: 'post',
  path: '/threads/{thread_id}/state',
  permission: 'runs:update',
  summary: 'Write to the state of a thread, as if a node had',
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  body: ThreadStateUpdate,
  responses: {
    200: {
      description: 'The checkpoint that was written.',
      schema: ThreadStateUpdateResponse,
      example: {
        checkpoint: exampleCheckpoint,
        configurable: exampleCheckpoint,
        checkpoint_id: exampleCheckpoint.checkpoint_id,
      },
    },
    400: { description: 'The thread has no graph yet, or the graph no such node.', schema: ErrorResponse },
    404: { description: 'No such thread, or it has no such checkpoint.', schema: ErrorResponse },
    409: { description: 'A run of the thread is pending or running.', schema: ErrorResponse },
    422: invalid,
  },
  examples: { params, body: { values: { count: 3 }, as_node: 'counter' } },
});

export const getThreadStateAtCheckpointId = defineOperation({
  operationId: 'getThreadStateAtCheckpointId',
  method: 'get',
  path: '/threads/{thread_id}/state/{checkpoint_id}',
  permission: 'runs:read',
  summary: 'The state of a thread at a checkpoint',
  tags,
  access: 'principal',
  params: Type.Object({ ...THREAD_PARAMS.properties, checkpoint_id: Type.String() }),
  query: stateQuery,
  responses: { 200: stateAnswer, 404: notFound, 422: invalid },
  examples: { params: { ...params, checkpoint_id: exampleCheckpoint.checkpoint_id } },
});

export const getThreadStateAtCheckpoint = defineOperation({
  operationId: 'getThreadStateAtCheckpoint',
  method: 'post',
  path: '/threads/{thread_id}/state/checkpoint',
  permission: 'runs:read',
  summary: 'The state of a thread at a checkpoint, also of a subgraph',
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  body: ThreadStateCheckpointRequest,
  responses: { 200: stateAnswer, 404: notFound, 422: invalid },
  examples: { params, body: { checkpoint: exampleCheckpoint } },
});

const historyAnswer = {
  description: 'States, newest first.',
  schema: Type.Array(Type.Partial(ThreadState)),
  example: [exampleState],
};

export const getThreadHistory = defineOperation({
  operationId: 'getThreadHistory',
  method: 'get',
  path: '/threads/{thread_id}/history',
  permission: 'runs:read',
  summary: 'Past states of a thread',
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 1 })),
    before: Type.Optional(Type.String({ description: 'Only states older than this checkpoint.' })),
    select: Type.Optional(Type.Union([SelectedField, Selected])),
  }),
  responses: { 200: historyAnswer, 404: notFound, 422: invalid },
  examples: { params, query: { limit: 10 } },
});

export const searchThreadHistory = defineOperation({
  operationId: 'searchThreadHistory',
  method: 'post',
  path: '/threads/{thread_id}/history',
  permission: 'runs:read',
  summary: 'Past states of a thread, filtered',
  tags,
  access: 'principal',
  params: THREAD_PARAMS,
  body: ThreadStateSearch,
  bodyOptional: true,
  responses: { 200: historyAnswer, 404: notFound, 422: invalid },
  examples: { params, body: { limit: 10, metadata: { source: 'input' } } },
});

export const THREAD_STATE_OPERATIONS = [
  getThreadState,
  updateThreadState,
  getThreadStateAtCheckpoint,
  getThreadStateAtCheckpointId,
  getThreadHistory,
  searchThreadHistory,
];
