import type { AgentServer } from '../agent-server/agent-server.ts';
import { CliError, ExitCode, InterruptedError, reasonOf } from '../cli-error.ts';
import { type DrawnGraph, findNodeLeadingTo } from './drawn-graph.ts';
import { createThread, deleteThread, readState } from './read-thread.ts';
import { type NewThread, StateAttempt } from './state-attempt.ts';
import { lastStateOnly, nameNodes } from './supersteps.ts';
import { checkpointIdOf, type ThreadState } from './thread-states.ts';

/** The copy of a thread that is written again. It is deleted only when all of the new one is read. */
export class EarlierCopy {
  readonly #target: AgentServer;
  readonly #thread: NewThread;
  readonly #state: ThreadState;
  readonly #drawn: DrawnGraph | undefined;
  #isDeleted = false;

  private constructor(target: AgentServer, thread: NewThread, state: ThreadState, drawn: DrawnGraph | undefined) {
    this.#target = target;
    this.#thread = thread;
    this.#state = state;
    this.#drawn = drawn;
  }

  static async read(target: AgentServer, thread: NewThread, drawn: DrawnGraph | undefined): Promise<EarlierCopy> {
    return new EarlierCopy(target, thread, await readState(target, thread.thread_id), drawn);
  }

  async delete(): Promise<void> {
    this.#isDeleted = true;
    await deleteThread(this.#target, this.#thread.thread_id);
  }

  /**
   * Writes its newest state again when the target refused what was to replace it. After a lost connection or a wrong
   * key it does not: the next run finds no thread, and copies all of it.
   *
   * @returns the error to report, which says what is at the target now
   */
  async putBack(error: unknown): Promise<unknown> {
    if (!this.#isDeleted || error instanceof InterruptedError) return error;
    const exitCode = error instanceof CliError ? error.exitCode : ExitCode.failed;
    const isRefusal = exitCode === ExitCode.failed;
    const outcome = isRefusal ? await this.#write() : 'its earlier copy is gone there: run the command again';
    return new CliError(`${reasonOf(error)}; ${outcome}`, exitCode, { cause: error });
  }

  async #write(): Promise<string> {
    try {
      await deleteThread(this.#target, this.#thread.thread_id);
      if (checkpointIdOf(this.#state) === undefined) {
        await createThread(this.#target, this.#thread);
        return 'its earlier copy, which had no state, is there again';
      }
      const node = (this.#drawn && findNodeLeadingTo(this.#drawn, this.#state.next)) ?? '';
      const attempt = new StateAttempt(this.#target, this.#thread, this.#state);
      const difference = await attempt.make(nameNodes(lastStateOnly(this.#state, []), node));
      await attempt.leave();
      return difference === null
        ? 'its earlier state is there again, without its history: delete the thread there to have it copied anew'
        : 'its earlier copy is gone there, and another state was made of it';
    } catch (error) {
      if (error instanceof InterruptedError) throw error;
      return `its earlier copy is gone there, and could not be written again (${reasonOf(error)})`;
    }
  }
}
