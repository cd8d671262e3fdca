import {
  getThreadHistory,
  getThreadState,
  getThreadStateAtCheckpoint,
  getThreadStateAtCheckpointId,
  searchThreadHistory,
  type ThreadState,
  updateThreadState,
} from '@runyard/contracts';
import type { IdempotencyKeys } from '@runyard/idempotency';
import { ok, toJsonBytes } from '@runyard/service-kit';
import { READ_THREAD, UPDATE_THREAD } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import { isSet } from '../http/query-flag.ts';
import { checkpointPositionOf, positionBefore } from './checkpoint-position.ts';
import { keysOfValues, selectStateFields } from './select-state.ts';
import type { StateService } from './state-service.ts';

export function stateRoutes(states: StateService, keys: IdempotencyKeys, guard: RouteGuard): GuardedOperation[] {
  const replyWithSelected = async (state: Promise<ThreadState>, select: string | string[] | undefined) =>
    replyWithTexts(selectStateFields(await state, select === undefined ? undefined : [select].flat()));
  const replyWithAllSelected = async (history: Promise<ThreadState[]>, select?: string[]) =>
    replyWithTexts((await history).map((state) => selectStateFields(state, select)));
  return [
    guard.bind(getThreadState, [READ_THREAD], async ({ params, query }, [scope]) =>
      replyWithSelected(
        states.getUnparsed(scope, params.thread_id, { subgraphs: isSet(query.subgraphs) }),
        query.select,
      ),
    ),
    guard.bind(getThreadStateAtCheckpointId, [READ_THREAD], async ({ params, query }, [scope]) => {
      const position = { checkpointId: params.checkpoint_id, subgraphs: isSet(query.subgraphs) };
      return replyWithSelected(states.getUnparsed(scope, params.thread_id, position), query.select);
    }),
    guard.bind(getThreadStateAtCheckpoint, [READ_THREAD], async ({ params, body }, [scope]) => {
      const position = {
        ...checkpointPositionOf(params.thread_id, body.checkpoint),
        subgraphs: body.subgraphs ?? false,
      };
      return replyWithSelected(states.getUnparsed(scope, params.thread_id, position), body.select);
    }),
    guard.bindCreation(keys, updateThreadState, [UPDATE_THREAD], ok, ({ params, body }, [scope], keyed) =>
      states.update(scope, params.thread_id, body, keyed),
    ),
    guard.bind(getThreadHistory, [READ_THREAD], async ({ params, query }, [scope]) => {
      const select = query.select === undefined ? undefined : [query.select].flat();
      const search = { limit: query.limit ?? 1, beforeCheckpointId: query.before, keys: keysOfValues(select) };
      return replyWithAllSelected(states.historyUnparsed(scope, params.thread_id, search), select);
    }),
    guard.bind(searchThreadHistory, [READ_THREAD], async ({ params, body }, [scope]) => {
      const search = {
        limit: body.limit ?? 1,
        beforeCheckpointId: positionBefore(params.thread_id, body.before).checkpointId,
        metadata: body.metadata ?? undefined,
        keys: keysOfValues(body.select),
        ...checkpointPositionOf(params.thread_id, body.checkpoint),
      };
      return replyWithAllSelected(states.historyUnparsed(scope, params.thread_id, search), body.select);
    }),
  ];
}

/** Answers with the JSON of a state whose texts are not parsed. */
function replyWithTexts(body: unknown) {
  return ok(toJsonBytes(body), { 'content-type': 'application/json' });
}
