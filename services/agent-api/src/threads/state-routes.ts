import {
  getThreadHistory,
  getThreadState,
  getThreadStateAtCheckpoint,
  getThreadStateAtCheckpointId,
  searchThreadHistory,
  type ThreadStateSearch,
  updateThreadState,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { isSet } from '../query-flag.ts';
import { UNRESTRICTED } from '../scope.ts';
import { placeOf, type StateService } from './state-service.ts';

export function stateRoutes(states: StateService): BoundOperation[] {
  return [
    bind(getThreadState, async ({ params, query }) =>
      ok(await states.get(UNRESTRICTED, params.thread_id, { subgraphs: isSet(query.subgraphs) })),
    ),
    bind(getThreadStateAtCheckpointId, async ({ params, query }) => {
      const place = { checkpointId: params.checkpoint_id, subgraphs: isSet(query.subgraphs) };
      return ok(await states.get(UNRESTRICTED, params.thread_id, place));
    }),
    bind(getThreadStateAtCheckpoint, async ({ params, body }) => {
      const place = { ...placeOf(body.checkpoint), subgraphs: body.subgraphs ?? false };
      return ok(await states.get(UNRESTRICTED, params.thread_id, place));
    }),
    bind(updateThreadState, async ({ params, body }) => ok(await states.update(UNRESTRICTED, params.thread_id, body))),
    bind(getThreadHistory, async ({ params, query }) => {
      const search = { limit: query.limit ?? 1, beforeCheckpointId: query.before };
      return ok(await states.history(UNRESTRICTED, params.thread_id, search));
    }),
    bind(searchThreadHistory, async ({ params, body }) => {
      const search = {
        limit: body.limit ?? 1,
        beforeCheckpointId: beforeOf(body.before),
        metadata: body.metadata ?? undefined,
        ...placeOf(body.checkpoint),
      };
      return ok(await states.history(UNRESTRICTED, params.thread_id, search));
    }),
  ];
}

/** `before` names a checkpoint by its id, flat, or the way LangGraph writes a config. */
function beforeOf(before: ThreadStateSearch['before']): string | undefined {
  if (before === null || before === undefined) return undefined;
  if (typeof before === 'string') return before;
  const named = 'configurable' in before ? before.configurable : before;
  return named?.checkpoint_id ?? undefined;
}
