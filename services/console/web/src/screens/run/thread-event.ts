import type { Namespace } from './timeline.ts';

/** An event of a thread, as its stream has it. */
export interface ThreadEvent {
  event_id: string;
  seq: number;
  method: string;
  params: { namespace: Namespace; timestamp: number; data: Record<string, unknown>; node?: string };
}
