/** Collects what a step wrote, by node: `metadata.writes` of the checkpoint it led to. */
import type { CompiledGraph, StateSnapshot } from '../langgraph/graph-types.ts';
import type { PendingWriteTuple } from './state-view.ts';

export interface Step {
  /** The snapshot whose tasks wrote. */
  at: StateSnapshot;
  writes: PendingWriteTuple[];
  /** Channels that are state; nodes trigger each other through the others. */
  channels: CompiledGraph['streamChannelsAsIs'];
}

/** @param isInput whether the step applies an input; `__start__` does that, and counts for no other step */
export function stepWrites({ at, writes, channels }: Step, isInput: boolean): Record<string, unknown> {
  const byNode: Record<string, unknown> = {};
  for (const { id, name } of at.tasks) {
    if ((name === '__start__') !== isInput) continue;
    const result = resultOf(
      writes.filter(([taskId]) => taskId === id),
      channels,
    );
    if (result !== undefined) byNode[name] = name in byNode ? [byNode[name], result].flat() : result;
  }
  return byNode;
}

function resultOf(written: PendingWriteTuple[], channels: Step['channels']): unknown {
  if (typeof channels === 'string') return written.find(([, channel]) => channel === channels)?.[2];
  const state = written.filter(([, channel]) => channels?.includes(channel));
  return state.length > 0 ? Object.fromEntries(state.map(([, channel, value]) => [channel, value])) : undefined;
}
