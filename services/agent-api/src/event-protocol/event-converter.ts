import { isProtocolMode, parseProtocolEvent } from '@runyard/host-protocol';
import { CONTROL_KINDS, parseEventId, type StreamEntry, type StreamGap, sequenceOf } from '@runyard/run-stream';
import { isFailure, parseRunEnd } from '../streams/run-end.ts';
import { convertModeEntry } from './convert-mode-entry.ts';
import { ModeMessages } from './mode-messages.ts';
import type { MessageContent } from './run-messages.ts';
import type { EventContent, ThreadEvent } from './thread-event.ts';

/** Converts the entries of a thread's stream, in their order, to events of the event protocol. */
export class EventConverter {
  /** The graph of the runs to come; undefined as long as it is not known. */
  graphName: string | undefined;
  /** Runs that have begun and not ended. */
  readonly #running = new Set<string>();
  /** JSON text of the failures of runs that are about to end. */
  readonly #failures = new Map<string, string>();
  /** Interrupts whose request was converted, by run. */
  readonly #requested = new Map<string, Set<string>>();
  /** The messages of runs that were started for stream modes. */
  readonly #messages = new Map<string, ModeMessages>();

  /**
   * An entry of which several events are made gives each an id of its own; their number is the same. So does a gap, which
   * stands at the place of the event before it.
   */
  convert(entry: StreamEntry): ThreadEvent[] {
    const seq = sequenceOf(entry.id);
    if (entry.kind === CONTROL_KINDS.gap) return [{ eventId: `${seq}:gap`, seq, ...toGap(entry) }];
    return this.#contentsOf(entry).map((content, index) => ({
      eventId: index === 0 ? String(seq) : `${seq}:${index}`,
      seq,
      ...content,
    }));
  }

  #contentsOf(entry: StreamEntry): EventContent[] {
    const { kind, runId, data } = entry;
    switch (kind) {
      case CONTROL_KINDS.state:
        return [];
      case CONTROL_KINDS.end:
        return [...this.#endMessages(entry), this.#end(entry)];
      case 'metadata':
        return this.#begin(entry);
      case 'error':
        this.#failures.set(runId, data);
        return [];
      default:
        return isProtocolMode(kind) ? this.#protocolEvent(entry) : this.#modeEvents(entry);
    }
  }

  #modeEvents(entry: StreamEntry): EventContent[] {
    const { id, runId } = entry;
    const messages = this.#messages.get(runId) ?? new ModeMessages();
    this.#messages.set(runId, messages);
    return [
      ...toMessageEvents(id, messages.convert(entry)),
      ...this.#withoutRepetition(runId, convertModeEntry(entry)),
    ];
  }

  #protocolEvent({ kind, event, runId, data }: StreamEntry): EventContent[] {
    return this.#withoutRepetition(runId, [{ ...parseProtocolEvent(kind, event), params: data }]);
  }

  /** A later attempt of a run reports again what the first one asked for. */
  #withoutRepetition(runId: string, contents: EventContent[]): EventContent[] {
    return contents.filter(({ channel, params }) => {
      if (channel !== 'input') return true;
      const { data } = JSON.parse(params) as { data: { interrupt_id: string } };
      const requested = this.#requested.get(runId) ?? new Set();
      this.#requested.set(runId, requested);
      return !requested.has(data.interrupt_id) && requested.add(data.interrupt_id) !== undefined;
    });
  }

  #begin(entry: StreamEntry): EventContent[] {
    if (this.#running.has(entry.runId)) return [];
    this.#running.add(entry.runId);
    return [this.#lifecycle(entry, 'running')];
  }

  #endMessages({ id, runId }: StreamEntry): EventContent[] {
    const messages = this.#messages.get(runId);
    this.#messages.delete(runId);
    return messages ? toMessageEvents(id, messages.end()) : [];
  }

  #end(entry: StreamEntry): EventContent {
    const { runId } = entry;
    const { status, isWaiting } = parseRunEnd(entry.data);
    const error = this.#failures.get(runId);
    const hasAsked = isWaiting || (this.#requested.get(runId)?.size ?? 0) > 0;
    this.#running.delete(runId);
    this.#failures.delete(runId);
    this.#requested.delete(runId);
    if (isFailure(status)) return this.#lifecycle(entry, 'failed', error);
    return this.#lifecycle(entry, status === 'success' && !hasAsked ? 'completed' : 'interrupted');
  }

  #lifecycle({ id }: StreamEntry, event: string, error?: string): EventContent {
    const data = {
      event,
      ...(this.graphName !== undefined && { graph_name: this.graphName }),
      ...(error && { error }),
    };
    return { channel: 'lifecycle', namespace: [], params: paramsOf(id, data) };
  }
}

function toMessageEvents(entryId: string, contents: Iterable<MessageContent>): EventContent[] {
  return [...contents].map(({ channel, namespace, node, data }) => ({
    channel,
    namespace,
    params: paramsOf(entryId, data, node),
  }));
}

/** Returns the fields of `params` for an entry whose data say nothing of the time. */
function paramsOf(entryId: string, data: unknown, node?: string): string {
  return JSON.stringify({ timestamp: Number.parseInt(entryId, 10), node, data });
}

function toGap({ id, data }: StreamEntry): EventContent {
  const gap = JSON.parse(data) as StreamGap;
  const after = gap.after === null ? undefined : parseEventId(gap.after);
  const shown = { ...gap, after: after === undefined ? null : sequenceOf(after) };
  return { channel: 'gap', namespace: [], params: paramsOf(id, shown) };
}
