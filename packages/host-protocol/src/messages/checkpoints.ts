/** Operations on checkpoints. Their forms are those of `packages/checkpointer/src/backend.ts`. */
import Type, { type Static } from 'typebox';
import { form, optionalOrNull, request, Use } from './message.ts';
import { ProjectFields, ValueRef } from './values.ts';

const CheckpointKey = form(
  'CheckpointKey',
  Type.Object({
    threadId: Type.String(),
    namespace: Type.String({ description: 'Empty for the root graph.' }),
    checkpointId: Type.String(),
  }),
);

const WriteDocument = form('Write', Type.Object({ taskId: Type.String(), channel: Type.String(), value: ValueRef }));
export type WriteDocument = Static<typeof WriteDocument>;

const hasStreamPosition = Type.Optional(
  Type.Boolean({ description: 'The raw bytes end with the position of the stream, u64.' }),
);

const PutDocument = form(
  'CheckpointPut',
  Type.Object({
    key: CheckpointKey,
    parentCheckpointId: Type.Optional(Type.String()),
    checkpoint: ValueRef,
    metadata: ValueRef,
    metadataJson: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...ProjectFields,
        description: 'The metadata as plain JSON; left out where `metadata` are JSON text of an object themselves.',
      }),
    ),
    channelVersions: Type.Record(Type.String(), Type.String(), {
      description: 'The version of every channel at this checkpoint.',
    }),
    blobs: Type.Array(Type.Object({ channel: Type.String(), version: Type.String(), value: Type.Optional(ValueRef) }), {
      description: 'Channels that this checkpoint writes; one without a value is empty.',
    }),
    hasStreamPosition,
  }),
);
export type PutDocument = Static<typeof PutDocument>;

const WritesDocument = form(
  'WritesPut',
  Type.Object({
    key: CheckpointKey,
    taskId: Type.String(),
    taskPath: Type.String(),
    writes: Type.Array(Type.Object({ index: Type.Integer(), channel: Type.String(), value: ValueRef }), {
      description: '`index` is negative for the special channels, where the last write wins.',
    }),
    hasStreamPosition,
  }),
);
export type WritesDocument = Static<typeof WritesDocument>;

const StoredDocument = form(
  'StoredCheckpoint',
  Type.Object({
    key: CheckpointKey,
    parentCheckpointId: Type.Optional(Type.String()),
    checkpoint: ValueRef,
    metadata: ValueRef,
    channelValues: Type.Array(Type.Object({ channel: Type.String(), value: ValueRef }), {
      description: 'The channels that have a value.',
    }),
    pendingWrites: Type.Array(WriteDocument),
    interruptsBeforeRun: Type.Optional(
      Type.Array(WriteDocument, {
        description: 'Interrupts and answers before the reading run wrote any here; missing where it has written none.',
      }),
    ),
  }),
);
export type StoredDocument = Static<typeof StoredDocument>;

const HistoryDocument = form(
  'ChannelHistory',
  Type.Object({
    channel: Type.String(),
    seed: Type.Optional(
      Type.Unsafe<ValueRef>({ ...ValueRef, description: 'Its value at the nearest ancestor that has one.' }),
    ),
    writes: Type.Array(WriteDocument, { description: 'Writes to it there and since then, oldest first.' }),
  }),
);
export type HistoryDocument = Static<typeof HistoryDocument>;

const CheckpointQuery = form(
  'CheckpointQuery',
  Type.Object({
    threadId: optionalOrNull(Type.String()),
    namespace: optionalOrNull(Type.String(), { description: 'Default: every namespace.' }),
    checkpointId: optionalOrNull(Type.String()),
    beforeCheckpointId: optionalOrNull(Type.String(), { description: 'Only checkpoints older than this one.' }),
    after: optionalOrNull(CheckpointKey, {
      description: 'The last checkpoint of the page before: the list goes on after it.',
    }),
    filter: optionalOrNull(ProjectFields, { description: 'Metadata keys and the values they must equal.' }),
    limit: optionalOrNull(Type.Number()),
    withoutValuesOf: optionalOrNull(Type.Array(Type.String()), { description: 'Channels to leave out.' }),
  }),
);

const VALUES = 'their values';

export const checkpointsToParent = {
  'checkpoint.get': request(
    'checkpoint.get',
    { use: Use, threadId: Type.String(), namespace: Type.String(), checkpointId: optionalOrNull(Type.String()) },
    {
      answer: Type.Array(StoredDocument, { description: 'at most one' }),
      answerRaw: VALUES,
      means: 'the checkpoint, or the newest one of the namespace',
    },
  ),
  'checkpoint.list': request(
    'checkpoint.list',
    { use: Use, query: CheckpointQuery },
    {
      answer: Type.Array(StoredDocument),
      answerRaw: VALUES,
      means: 'a page of checkpoints, newest first; it may end before its limit, and an empty one is the end',
    },
  ),
  'checkpoint.put': request(
    'checkpoint.put',
    { use: Use, put: PutDocument },
    { raw: 'its values, in the order the header names them', answer: Type.Null(), means: 'answered once durable' },
  ),
  'checkpoint.putWrites': request(
    'checkpoint.putWrites',
    { use: Use, put: WritesDocument },
    { raw: 'their values', answer: Type.Null(), means: 'answered once durable' },
  ),
  'checkpoint.deleteThread': request(
    'checkpoint.deleteThread',
    { use: Use, threadId: Type.String() },
    { answer: Type.Null(), means: "delete the thread's checkpoints" },
  ),
  'checkpoint.channelHistories': request(
    'checkpoint.channelHistories',
    { use: Use, key: CheckpointKey, channels: Type.Array(Type.String()) },
    {
      answer: Type.Array(HistoryDocument, { description: 'one per channel' }),
      answerRaw: VALUES,
      means: 'histories of channels that are stored as changes',
    },
  ),
} as const;
