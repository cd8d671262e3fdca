import {
  getThreadHistory,
  getThreadState,
  getThreadStateAtCheckpoint,
  getThreadStateAtCheckpointId,
  searchThreadHistory,
  type ThreadState,
  updateThreadState,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import { isSet } from '../http/query-flag.ts';
import { checkpointPositionOf, positionBefore } from './checkpoint-position.ts';
import { selectStateFields } from './select-state.ts';
import type { StateService } from './state-service.ts';

export function stateRoutes(states: StateService, keys: IdempotencyKeys): BoundOperation[] {
  const replyWithSelected = async (state: Promise<ThreadState>, select: string | string[] | undefined) =>
    ok(selectStateFields(await state, select === undefined ? undefined : [select].flat()));
  const replyWithAllSelected = async (history: Promise<ThreadState[]>, select?: string[]) =>
    ok((await history).map((state) => selectStateFields(state, select)));
  return [
    bind(getThreadState, async ({ params, query }) =>
      replyWithSelected(
        states.get(UNRESTRICTED, params.thread_id, { subgraphs: isSet(query.subgraphs) }),
        query.select,
      ),
    ),
    bind(getThreadStateAtCheckpointId, async ({ params, query }) => {
      const position = { checkpointId: params.checkpoint_id, subgraphs: isSet(query.subgraphs) };
      return replyWithSelected(states.get(UNRESTRICTED, params.thread_id, position), query.select);
    }),
    bind(getThreadStateAtCheckpoint, async ({ params, body }) => {
      const position = {
        ...checkpointPositionOf(params.thread_id, body.checkpoint),
        subgraphs: body.subgraphs ?? false,
      };
      return replyWithSelected(states.get(UNRESTRICTED, params.thread_id, position), body.select);
    }),
    bindCreation(keys, updateThreadState, ok, ({ params, body }, keyed) =>
      states.update(UNRESTRICTED, params.thread_id, body, keyed),
    ),
    bind(getThreadHistory, async ({ params, query }) => {
      const search = { limit: query.limit ?? 1, beforeCheckpointId: query.before };
      return replyWithAllSelected(states.history(UNRESTRICTED, params.thread_id, search));
    }),
    bind(searchThreadHistory, async ({ params, body }) => {
      const search = {
        limit: body.limit ?? 1,
        beforeCheckpointId: positionBefore(params.thread_id, body.before).checkpointId,
        metadata: body.metadata ?? undefined,
        ...checkpointPositionOf(params.thread_id, body.checkpoint),
      };
      return replyWithAllSelected(states.history(UNRESTRICTED, params.thread_id, search), body.select);
    }),
  ];
}
