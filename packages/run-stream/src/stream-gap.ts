import { BEFORE_ALL } from './event-id.ts';
import { type AppendEvent, CONTROL_KINDS, type StreamGap } from './types.ts';

/** Makes an entry that reports missing events. */
export function gapAfter(after: string, reason: StreamGap['reason']): Pick<AppendEvent, 'kind' | 'event' | 'data'> {
  const gap: StreamGap = { reason, after: after === BEFORE_ALL ? null : after };
  return { kind: CONTROL_KINDS.gap, event: 'gap', data: JSON.stringify(gap) };
}
