/**
 * What made tasks of a run fail. The runtime tells that a task ended and leaves out that it failed, so it is heard from the
 * callbacks of what runs inside the task, the task itself being the last to be heard.
 */
import { errorBody } from './error-body.ts';

export class TaskErrors {
  readonly #errors = new Map<string, unknown>();
  readonly #tasks = new Map<string, string>();

  /** A LangChain callback handler. It is waited for: what it hears has to be known before the task's end is told. */
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
    handleChainEnd: (_outputs: unknown, runId: string): void => this.#heard(runId, undefined),
    handleChainError: (error: unknown, runId: string): void => this.#heard(runId, error),
  };

  /** As the end of the task tells it; null when it did not fail. */
  of(taskId: unknown): { error: string; message: string } | null {
    const thrown = this.#errors.get(String(taskId));
    if (thrown === undefined) return null;
    const { error, message } = errorBody(thrown);
    return { error, message };
  }

  /** A task that is tried again, or that goes on after a part of it failed, has not failed. */
  #heard(runId: string, error: unknown): void {
    const task = this.#tasks.get(runId);
    this.#tasks.delete(runId);
    if (task === undefined) return;
    if (error === undefined || isBubbleUp(error)) this.#errors.delete(task);
    else this.#errors.set(task, error);
  }
}

/** The namespace of what runs in a task ends in `node:task id`. */
function taskOf(namespace: unknown): string | undefined {
  if (typeof namespace !== 'string') return undefined;
  return namespace.slice(namespace.lastIndexOf(':') + 1);
}

/** Interrupts and commands to a parent graph travel as errors and are none. */
function isBubbleUp(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'is_bubble_up' in error && error.is_bubble_up === true;
}
