import { type AgentServer, ServerRefusedError } from '../agent-server/agent-server.ts';
import { ExitCode } from '../cli-error.ts';
import { isSame } from './compare.ts';
import type { EarlierCopy } from './earlier-copy.ts';
import { withoutEmptyFields } from './messages.ts';
import { createThread, deleteThread, differenceOf, readState } from './read-thread.ts';
import { leadTo } from './supersteps.ts';
import type { Superstep, ThreadState } from './thread-states.ts';

export interface NewThread {
  thread_id: string;
  metadata: Record<string, unknown>;
  ttl?: { strategy: string; ttl: number };
}

/** Tries to write a state in one way after the other, until the target has the same. */
export class StateAttempt {
  readonly #target: AgentServer;
  readonly #thread: NewThread;
  readonly #wanted: ThreadState;
  readonly #earlier: EarlierCopy | undefined;
  #refused: ServerRefusedError | undefined;
  #isFirst = true;
  /** The path at which the written state differs from the wanted one. */
  difference = 'state';
  /** True when the target has fields of messages elsewhere. */
  hasMovedFields = false;

  /** @param earlier what gives way to the first try */
  constructor(target: AgentServer, thread: NewThread, wanted: ThreadState, earlier?: EarlierCopy) {
    this.#target = target;
    this.#thread = thread;
    this.#wanted = wanted;
    this.#earlier = earlier;
  }

  /** @returns where it differs, or null */
  async make(supersteps: Superstep[]): Promise<string | null> {
    const difference = await this.#makeOnce(supersteps);
    if (difference?.startsWith('next') !== true) return difference;
    return this.#makeOnce(leadTo(this.#wanted.next, supersteps));
  }

  /** Leaves what was written last, or throws why nothing could be. */
  async leave(): Promise<void> {
    if (this.#refused === undefined) return;
    await this.#delete();
    throw this.#refused;
  }

  async #makeOnce(supersteps: Superstep[]): Promise<string | null> {
    const body = { ...this.#thread, supersteps: withoutEmptyFields(supersteps) as Superstep[] };
    if (this.#isFirst) await this.#earlier?.delete();
    else await this.#delete();
    this.#isFirst = false;
    this.#refused = undefined;
    try {
      await createThread(this.#target, body);
    } catch (error) {
      if (!(error instanceof ServerRefusedError) || error.exitCode !== ExitCode.failed) throw error;
      this.#refused = error;
      return 'state';
    }
    const made = await readState(this.#target, this.#thread.thread_id);
    const difference = differenceOf(this.#wanted, made);
    if (difference !== null) this.difference = difference;
    this.hasMovedFields = !isSame(withoutEmptyFields(this.#wanted.values ?? {}), withoutEmptyFields(made.values ?? {}));
    return difference;
  }

  #delete(): Promise<void> {
    return deleteThread(this.#target, this.#thread.thread_id);
  }
}
