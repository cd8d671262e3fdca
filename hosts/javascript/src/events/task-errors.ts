/**
 * Collects the errors of failed tasks. The runtime reports that a task ended but not that it failed, so the errors come
 * from the callbacks of what runs inside the task; the task itself reports last.
 */
import { errorBody } from '../wire/error-body.ts';

export class TaskErrors {
  readonly #errors = new Map<string, unknown>();
  readonly #tasks = new Map<string, string>();

  /**
   * A LangChain callback handler. LangChain awaits it, because an error must be known before the end of the task is
   * published.
   */
  readonly handler = {
    name: 'task-errors',
    awaitHandlers: true,
    handleChainStart: (
      _chain: unknown,
      _inputs: unknown,
      runId: string,
      _parentRunId?: string,
      _tags?: string[],
      metadata?: Record<string, unknown>,
    ): void => {
      const task = taskOf(metadata?.langgraph_checkpoint_ns);
      if (task !== undefined) this.#tasks.set(runId, task);
    },
    handleChainEnd: (_outputs: unknown, runId: string): void => this.#record(runId, undefined),
    handleChainError: (error: unknown, runId: string): void => this.#record(runId, error),
  };

  /** Returns the error for the task's end event; null when it did not fail. */
  of(taskId: unknown): { error: string; message: string } | null {
    const thrown = this.#errors.get(String(taskId));
    if (thrown === undefined) return null;
    const { error, message } = errorBody(thrown);
    return { error, message };
  }

  /** Forgets the error when the task is retried, or goes on after a part of it failed. */
  #record(runId: string, error: unknown): void {
    const task = this.#tasks.get(runId);
    this.#tasks.delete(runId);
    if (task === undefined) return;
    if (error === undefined || isBubbleUp(error)) this.#errors.delete(task);
    else this.#errors.set(task, error);
  }
}

/** Returns the task id: the namespace of what runs in a task ends in `node:task id`. */
function taskOf(namespace: unknown): string | undefined {
  if (typeof namespace !== 'string') return undefined;
  return namespace.slice(namespace.lastIndexOf(':') + 1);
}

/** Returns whether this is an interrupt or a command to a parent graph: both are thrown and are no failures. */
export function isBubbleUp(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'is_bubble_up' in error && error.is_bubble_up === true;
}
