/** Messages about the state of threads, outside of runs. */
import Type, { type Static } from 'typebox';
import { FactoryConfig } from './graphs.ts';
import { form, request, Use } from './message.ts';
import { ProjectFields, ProjectValue, ValueRef } from './values.ts';

const Config = Type.Optional(FactoryConfig);
const ofThread = { graphId: Type.String(), threadId: Type.String(), config: Config };
const atCheckpoint = { checkpointId: Type.Optional(Type.String()), checkpointNs: Type.Optional(Type.String()) };

const stateRequest = { ...ofThread, ...atCheckpoint, subgraphs: Type.Optional(Type.Boolean()) };
const StateRequest = form('StateRequest', Type.Object(stateRequest));
export type StateRequest = Static<typeof StateRequest>;

const StateUpdateRequest = form(
  'StateUpdateRequest',
  Type.Object({
    ...stateRequest,
    values: Type.Optional(ProjectValue),
    asNode: Type.Optional(Type.String()),
    supersteps: Type.Optional(
      Type.Array(
        Type.Object({
          updates: Type.Array(
            Type.Object({
              values: Type.Optional(ProjectValue),
              command: Type.Optional(ProjectValue),
              as_node: Type.Optional(Type.String()),
            }),
          ),
        }),
        { description: 'Several updates in order; default: one update of `values` and `asNode`.' },
      ),
    ),
  }),
);
export type StateUpdateRequest = Static<typeof StateUpdateRequest>;

const HistoryRequest = form(
  'HistoryRequest',
  Type.Object({
    ...ofThread,
    limit: Type.Integer(),
    beforeCheckpointId: Type.Optional(Type.String()),
    ...atCheckpoint,
    metadata: Type.Optional(ProjectFields),
    keys: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The keys of the values that are needed; others may be missing. Left out: all.',
      }),
    ),
    maxBytes: Type.Optional(
      Type.Integer({
        description: 'Bytes of JSON after which no older state follows. The newest is returned whatever its size.',
      }),
    ),
  }),
);
export type HistoryRequest = Static<typeof HistoryRequest>;

const StateDocument = form(
  'StateDocument',
  Type.Object({
    state: ValueRef,
    values: ValueRef,
    writes: Type.Optional(Type.Unsafe<ValueRef>({ ...ValueRef, description: 'Missing where the metadata have none.' })),
  }),
);
/**
 * A state in an answer: JSON text without what may be large, `values` and `metadata.writes`, whose texts follow. Nobody
 * parses those on their way to a client or to storage.
 */
export type StateDocument = Static<typeof StateDocument>;

const StateUpdateAnswer = Type.Object({
  written: Type.Record(Type.String(), Type.Unknown(), {
    description: '`{checkpoint, configurable, checkpoint_id}` of the checkpoint that was written last',
  }),
  states: Type.Array(StateDocument, {
    description: 'the newest state where the host knows it from what it wrote, otherwise empty',
  }),
});

const TEXTS = 'their JSON texts';

export const stateToHost = {
  'state.get': request(
    'state.get',
    { use: Use, request: StateRequest },
    { answer: Type.Array(StateDocument), answerRaw: TEXTS, means: "a thread's state, as on the wire" },
  ),
  'state.history': request(
    'state.history',
    { use: Use, request: HistoryRequest },
    { answer: Type.Array(StateDocument), answerRaw: TEXTS, means: 'its states, newest first' },
  ),
  'state.update': request(
    'state.update',
    { use: Use, request: StateUpdateRequest },
    { answer: StateUpdateAnswer, answerRaw: TEXTS, means: 'write to the state' },
  ),
} as const;
