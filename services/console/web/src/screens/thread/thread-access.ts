import { listCheckpoints, readThreadState, type ThreadPlace, updateThreadState } from '../../platform/threads.ts';
import type { ThreadAccess } from './open-subgraph.ts';

/** Returns the requests about a thread. */
export function accessOf(place: ThreadPlace): ThreadAccess {
  return {
    readState: (position) => readThreadState(place, position),
    updateState: (update) => updateThreadState(place, update),
    listCheckpoints: (position) => listCheckpoints(place, position),
  };
}
