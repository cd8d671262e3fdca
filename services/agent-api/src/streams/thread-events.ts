import { isProtocolMode } from '@runyard/host-protocol';
import { CONTROL_KINDS, type StreamEntry } from '@runyard/run-stream';
import { formatSseEvent } from '@runyard/service-kit';

/** Formats an entry as clients of a thread's stream get it; undefined when none of their modes includes it. */
export function renderThreadEntry(entry: StreamEntry, modes: ReadonlySet<string>): string | undefined {
  const { id, kind, event, data, runId } = entry;
  const includesRuns = modes.has('run_modes');
  switch (kind) {
    case CONTROL_KINDS.gap:
      return formatSseEvent({ event: 'gap', data, id });
    case CONTROL_KINDS.state:
      return modes.has('state_update') ? formatSseEvent({ event, data, id }) : undefined;
    case CONTROL_KINDS.end: {
      const done = JSON.stringify({ status: 'run_done', run_id: runId });
      return includesRuns || modes.has('lifecycle') ? formatSseEvent({ event: 'metadata', data: done, id }) : undefined;
    }
    case 'metadata':
      return includesRuns || modes.has('lifecycle') ? formatSseEvent({ event, data, id }) : undefined;
    default:
      return includesRuns && !isProtocolMode(kind) ? formatSseEvent({ event, data, id }) : undefined;
  }
}
