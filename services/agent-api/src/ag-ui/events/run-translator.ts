import { CONTROL_KINDS } from '@runyard/run-stream';
import { messagesIn } from '../../a2a/tasks/state-messages.ts';
import { EventConverter } from '../../event-protocol/event-converter.ts';
import { eventMethod, type ThreadEvent } from '../../event-protocol/thread-event.ts';
import { type Fields, isFields } from '../../http/fields.ts';
import type { FollowedEntry } from '../../streams/follow-run.ts';
import { isFailure, type RunEnd } from '../../streams/run-end.ts';
import { AG_UI_VERSION, type AgUiEvent, type AgUiPeer } from './ag-ui-event.ts';
import { customValueOf, interruptsIn, type StateInterrupt, toShownInterrupt } from './interrupts.ts';
import { MessageTranslator } from './message-translator.ts';
import { SharedState } from './shared-state.ts';
import { toShownMessages } from './shown-messages.ts';
import { Steps } from './steps.ts';

/** The end of a run: how it ended, its final values if they are known, and the error of a failed one. */
export interface TranslatedEnd extends Pick<RunEnd, 'status' | 'isWaiting' | 'isRolledBack'> {
  values?: unknown;
  error?: { error: string; message: string } | null;
}

/**
 * Translates the entries of one run to events of AG-UI. It depends on nothing but the entries, in their order, and what
 * the client understands: any process makes the same events of them, under the same ids.
 *
 * Whatever the entries are, the events keep the rules of the protocol: all that is open is closed before the run ends,
 * nothing begins twice, and nothing follows the end.
 */
export class RunTranslator {
  readonly #peer: AgUiPeer;
  readonly #converter = new EventConverter();
  readonly #messages = new MessageTranslator();
  readonly #state = new SharedState();
  readonly #steps = new Steps();
  /** Interrupts that the run has reported. */
  readonly #asked: StateInterrupt[] = [];

  constructor(peer: AgUiPeer) {
    this.#peer = peer;
  }

  /** Returns the first event. */
  begin(): AgUiEvent {
    const { threadId, runId, parentRunId, isCurrent } = this.#peer;
    return {
      type: 'RUN_STARTED',
      threadId,
      runId,
      ...(parentRunId !== undefined && { parentRunId }),
      ...(isCurrent && { protocolVersion: AG_UI_VERSION }),
    };
  }

  /** Translates an entry of the run, of any kind but the ones that end it: `error` and `run.end`. */
  *translate(entry: FollowedEntry): Generator<AgUiEvent> {
    const { id } = entry;
    if (entry.kind === 'metadata') yield* this.#closeAll();
    else if (entry.kind === CONTROL_KINDS.gap) yield* this.#mindGap();
    else if (id !== undefined) for (const event of this.#converter.convert({ ...entry, id })) yield* this.#event(event);
  }

  /** Returns the last events of a run that has ended. */
  *end(end: TranslatedEnd): Generator<AgUiEvent> {
    const { status, values, error } = end;
    yield* this.#closeAll();
    if (isFailure(status)) {
      yield this.error(error?.message ?? 'The run failed', error?.error);
      return;
    }
    const interrupts = status === 'success' ? this.#interruptsOf(end) : [];
    for (const interrupt of interrupts) yield { type: 'CUSTOM', name: 'on_interrupt', value: customValueOf(interrupt) };
    if (!end.isRolledBack) yield* this.snapshots(values);
    if (status === 'success') yield this.#finished(interrupts.map(toShownInterrupt));
    // Clients before 1.0 would take any other end for a success.
    else if (!this.#peer.isCurrent) yield this.error('The run was cancelled', 'cancelled');
    else yield this.#finish({ outcome: { type: 'cancelled' } });
  }

  /**
   * Returns state and messages as a whole; nothing where there is no state. A graph without messages says nothing about
   * those that the client has.
   */
  *snapshots(values: unknown): Generator<AgUiEvent> {
    if (!isFields(values) || Object.keys(values).length === 0) return;
    yield this.#state.snapshot(values);
    const messages = messagesIn(values);
    if (messages) yield { type: 'MESSAGES_SNAPSHOT', messages: toShownMessages(messages) };
  }

  /** Returns the last event of a run that was not needed: its answer is the state as it is. */
  succeeded(): AgUiEvent {
    return this.#finished([]);
  }

  /** Returns the last event of a run that failed. */
  error(message: string, code?: string): AgUiEvent {
    return { type: 'RUN_ERROR', message, ...(code !== undefined && { code }) };
  }

  /** The values have more about interrupts than their events, which count where the values are not known. */
  #interruptsOf({ values, isWaiting }: TranslatedEnd): StateInterrupt[] {
    const inValues = interruptsIn(values);
    return inValues.length === 0 && isWaiting ? this.#asked : inValues;
  }

  /** A later attempt of a run begins anew: what the earlier one was writing ends here. */
  *#closeAll(): Generator<AgUiEvent> {
    yield* this.#messages.closeAll();
    yield* this.#steps.closeAll();
  }

  /** Closes what is open, which may have ended in the gap, and forgets the state, which may have changed. */
  *#mindGap(): Generator<AgUiEvent> {
    yield* this.#closeAll();
    this.#messages.forgetStates();
    this.#state.forget();
  }

  *#event(event: ThreadEvent): Generator<AgUiEvent> {
    const { channel, namespace, customName } = event;
    const params = JSON.parse(event.params) as Fields;
    const data = isFields(params.data) ? params.data : {};
    switch (channel) {
      case 'messages':
        yield* this.#messages.translate(namespace, data);
        break;
      case 'values':
        yield* this.#values(namespace, data);
        break;
      case 'tasks':
        if (namespace.length === 0) yield* this.#steps.translate(data);
        break;
      case 'input':
        this.#asked.push({ id: String(data.interrupt_id), value: data.payload ?? null });
        break;
      case 'custom':
        yield { type: 'CUSTOM', name: customName ?? 'custom', value: data.payload ?? null };
        break;
    }
    // It comes last: the ids of the others are the same with it and without.
    if (this.#peer.wantsRaw) yield rawEvent(event, params);
  }

  /**
   * The first state is shown with its messages: clients put those of a later snapshot behind the ones that they have,
   * and one that joins the run without a conversation would have the answer before the question.
   */
  *#values(namespace: string[], values: Fields): Generator<AgUiEvent> {
    const isRoot = namespace.length === 0;
    const messages = messagesIn(values) ?? [];
    const isFirst = isRoot && !this.#messages.hasBegun;
    yield* this.#messages.observe(namespace, messages);
    if (isRoot) yield* this.#state.change(values);
    if (isFirst && messages.length > 0) yield { type: 'MESSAGES_SNAPSHOT', messages: toShownMessages(messages) };
  }

  #finished(interrupts: Fields[]): AgUiEvent {
    if (interrupts.length > 0) return this.#finish({ outcome: { type: 'interrupt', interrupts } });
    return this.#finish(this.#peer.isCurrent ? { outcome: { type: 'success' } } : {});
  }

  #finish(more: Fields): AgUiEvent {
    const { threadId, runId, isCurrent } = this.#peer;
    const usage = isCurrent ? this.#messages.usage.entries : [];
    return { type: 'RUN_FINISHED', threadId, runId, ...more, ...(usage.length > 0 && { usage }) };
  }
}

function rawEvent(event: ThreadEvent, params: Fields): AgUiEvent {
  const { namespace } = event;
  return { type: 'RAW', event: { method: eventMethod(event), params: { namespace, ...params } }, source: 'langgraph' };
}
