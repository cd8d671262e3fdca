/**
 * Every message between a parent and a graph host. `docs/services/graph-host-protocol.md` explains the same in prose,
 * and its tables are made from these schemas.
 *
 * A message is `u32 header length | header JSON | raw bytes`. The header has `t` (type); a message that expects an
 * answer has an `id`, and its answer is `{t: "answer", id, ok | error}`. `use` names one use of a graph (a run or a
 * state request): the parent assigns the numbers, and every operation on checkpoints and store carries the number of
 * its use.
 */
import type { Static, TSchema } from 'typebox';
import { authToHost } from './auth.ts';
import { checkpointsToParent } from './checkpoints.ts';
import { embeddingsToHost } from './embeddings.ts';
import { encryptionToHost } from './encryption.ts';
import { graphsToHost } from './graphs.ts';
import type { ErrorBody as ErrorBodyForm } from './message.ts';
import { processToParent } from './process.ts';
import { projectToHost } from './project.ts';
import { runsToHost, runsToParent } from './runs.ts';
import { stateToHost } from './state.ts';
import { storeToParent } from './store.ts';

/** Messages from the parent to the host. */
export const toHost = {
  ...projectToHost,
  ...runsToHost,
  ...stateToHost,
  ...graphsToHost,
  ...embeddingsToHost,
  ...authToHost,
  ...encryptionToHost,
} as const;

/** Messages from the host to the parent. */
export const toParent = { ...processToParent, ...runsToParent, ...checkpointsToParent, ...storeToParent } as const;

type Headers<M extends Record<string, { header: TSchema }>> = { [K in keyof M]: Static<M[K]['header']> };

export type ToHost = Headers<typeof toHost>;
export type ToParent = Headers<typeof toParent>;
export type ErrorBody = Static<typeof ErrorBodyForm>;
