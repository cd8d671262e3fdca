/** The fields of the wire's `ThreadState` that a copy needs; older servers leave some out. */
export interface ThreadState {
  values: unknown;
  next: string[];
  tasks: { name: string; result?: unknown; interrupts?: unknown[] }[];
  metadata: { source?: string; writes?: unknown } | null;
  checkpoint: { checkpoint_id?: string } | null;
  checkpoint_id?: string | null;
  parent_checkpoint: { checkpoint_id?: string } | null;
}

export interface Update {
  as_node: string;
  values?: unknown;
  command?: { update: unknown; goto: string[] };
}
export interface Superstep {
  updates: Update[];
}

export function checkpointIdOf(state: ThreadState): string | undefined {
  return state.checkpoint?.checkpoint_id ?? state.checkpoint_id ?? undefined;
}
