import type { AgUiEvent } from './ag-ui-event.ts';

/**
 * Makes the events of texts, calls and reasoning, each of which begins, goes on and ends. An item begins with its first
 * content, and what is open can be closed at any time.
 */
export class ItemEvents {
  readonly #texts = new Set<string>();
  readonly #reasoning = new Set<string>();
  readonly #calls = new Set<string>();
  /** Calls that were begun, or that the client has: none begins twice. */
  readonly #known = new Set<string>();

  *addText(messageId: string, delta: string): Generator<AgUiEvent> {
    if (delta === '') return;
    if (!this.#texts.has(messageId)) {
      this.#texts.add(messageId);
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' };
    }
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta };
  }

  *endText(messageId: string): Generator<AgUiEvent> {
    if (this.#texts.delete(messageId)) yield { type: 'TEXT_MESSAGE_END', messageId };
  }

  *addReasoning(messageId: string, delta: string): Generator<AgUiEvent> {
    if (delta === '') return;
    if (!this.#reasoning.has(messageId)) {
      this.#reasoning.add(messageId);
      yield { type: 'REASONING_START', messageId };
      yield { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' };
    }
    yield { type: 'REASONING_MESSAGE_CONTENT', messageId, delta };
  }

  *endReasoning(messageId: string): Generator<AgUiEvent> {
    if (!this.#reasoning.delete(messageId)) return;
    yield { type: 'REASONING_MESSAGE_END', messageId };
    yield { type: 'REASONING_END', messageId };
  }

  /** Ends the reasoning that belongs to a message. */
  *endReasoningOf(messageId: string): Generator<AgUiEvent> {
    for (const id of [...this.#reasoning]) if (id.startsWith(`${messageId}-`)) yield* this.endReasoning(id);
  }

  *startCall(toolCallId: string, toolCallName: string, parentMessageId: string): Generator<AgUiEvent> {
    if (this.#known.has(toolCallId)) return;
    this.#known.add(toolCallId);
    this.#calls.add(toolCallId);
    yield { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId };
  }

  *addArguments(toolCallId: string, delta: string): Generator<AgUiEvent> {
    if (delta !== '' && this.#calls.has(toolCallId)) yield { type: 'TOOL_CALL_ARGS', toolCallId, delta };
  }

  *endCall(toolCallId: string): Generator<AgUiEvent> {
    if (this.#calls.delete(toolCallId)) yield { type: 'TOOL_CALL_END', toolCallId };
  }

  /** Remembers a call that the client has. */
  remember(toolCallId: string): void {
    this.#known.add(toolCallId);
  }

  *closeAll(): Generator<AgUiEvent> {
    for (const id of [...this.#reasoning]) yield* this.endReasoning(id);
    for (const id of [...this.#calls]) yield* this.endCall(id);
    for (const id of [...this.#texts]) yield* this.endText(id);
  }
}
