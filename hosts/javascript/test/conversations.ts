/** Threads of the graph `questions` whose runs lose their worker, at any moment. */
import { randomUUID } from 'node:crypto';
import type { GraphHost } from '@runyard/host-client';
import type { ExecutionRequest } from '@runyard/host-protocol';
import { expect } from 'vitest';
import { executionRequest, memoryBackends, runToEnd } from './host-under-test.ts';

type Interrupt = { id: string; value: unknown };
/** Returns the resume value for the waiting interrupts. */
export type Answer = (asked: Interrupt[]) => unknown;
export type Durability = ExecutionRequest['durability'];

const plain =
  (value: unknown): Answer =>
  () =>
    value;
const byId =
  (value: unknown): Answer =>
  (asked) =>
    Object.fromEntries(asked.map(({ id }) => [id, value]));
const onlyTheFirst =
  (value: unknown): Answer =>
  ([first]) => ({ [first!.id]: value });

/** Questions in the places of a graph where they may be asked, with an answer for each. */
export const QUESTIONS: [what: string, where: string, answers: Answer[]][] = [
  ['questions side by side, answered together', 'beside', [plain({ a: 1 }), plain('last')]],
  ['questions side by side, answered by id', 'beside', [byId(null), byId('last')]],
  ['questions side by side, answered one by one', 'beside', [onlyTheFirst(1), onlyTheFirst(0), plain('')]],
  ['two questions of one node', 'twice', [plain('same'), plain('same'), plain('same')]],
  ['questions of a subgraph', 'inside', [plain('same'), plain('same'), plain('same')]],
  ['questions of a subgraph, answered by id', 'inside', [byId(0), byId(''), byId(['list'])]],
  ['questions of a subgraph with a memory', 'memory', [plain(false), plain(false), plain(false)]],
];

/** A thread whose runs are attempted as often as they lose their worker. */
class Conversation {
  readonly threadId = randomUUID();
  readonly backends = memoryBackends();
  readonly #host: GraphHost;
  readonly #durability: Durability;
  #asked: Interrupt[] = [];

  constructor(host: GraphHost, durability: Durability) {
    this.#host = host;
    this.#durability = durability;
  }

  get isOver(): boolean {
    return this.#asked.length === 0;
  }

  /**
   * @param lostAfter operations on storage after which each of the first attempts loses its worker
   * @returns how the run ends, and which of the first attempts did lose it
   */
  async run(
    request: Partial<ExecutionRequest>,
    lostAfter: number[] = [],
  ): Promise<{ end: unknown; wereLost: boolean[] }> {
    const whole = executionRequest('questions', { threadId: this.threadId, durability: this.#durability, ...request });
    const wereLost: boolean[] = [];
    for (const [index, after] of lostAfter.entries()) {
      const checkpoints = this.backends.checkpoints.ofRun(whole.runId, after);
      const execution = { ...whole, attempt: index + 1 };
      const handle = this.#host.startRun(execution, { ...this.backends, checkpoints }, { onEvents: () => {} });
      wereLost.push((await handle.settled).kind === 'fenced');
      await handle.stopped;
    }
    const attempt = lostAfter.length + 1;
    const { outcome, values } = await runToEnd(this.#host, { ...whole, attempt }, this.backends);
    const { __interrupt__: asked = [], ...state } = values ?? {};
    this.#asked = asked as Interrupt[];
    return { end: { kind: outcome.kind, state, asked: this.#asked.map(({ value }) => value) }, wereLost };
  }

  answer(answer: Answer, lostAfter?: number[]) {
    return this.run({ command: { resume: answer(this.#asked) } }, lostAfter);
  }
}

/**
 * Answers the runs of a thread one after the other and returns how each ends. The run with the number in `lost` loses
 * the workers of its first attempts.
 */
async function talk(
  host: GraphHost,
  where: string,
  answers: Answer[],
  durability: Durability,
  lost?: { run: number; after: number[] },
) {
  const conversation = new Conversation(host, durability);
  const ends: unknown[] = [];
  let wereLost: boolean[] = [];
  for (let run = 0; run === 0 || (!conversation.isOver && run <= answers.length); run += 1) {
    const after = lost?.run === run ? lost.after : [];
    const ended = await (run === 0
      ? conversation.run({ input: { where } }, after)
      : conversation.answer(answers[run - 1]!, after));
    if (lost?.run === run) wereLost = ended.wereLost;
    ends.push(ended.end);
  }
  return { ends, wereLost };
}

/**
 * Talks again and again, with a worker that is lost after each operation on storage, and expects the same ends.
 *
 * @param isTwice true to lose the worker of the second attempt too, after each of its operations
 */
export async function expectSameWhenLost(
  host: GraphHost,
  [, where, answers]: (typeof QUESTIONS)[number],
  durability: Durability,
  isTwice = false,
): Promise<unknown[]> {
  const { ends } = await talk(host, where, answers, durability);
  expect(ends).toHaveLength(answers.length + 1);
  /** Returns which of the attempts were lost. */
  const lose = async (run: number, after: number[]) => {
    const talked = await talk(host, where, answers, durability, { run, after });
    expect(talked.ends, `run ${run}, lost after ${after.join(' and ')} operations`).toEqual(ends);
    return talked.wereLost;
  };
  for (let run = 0; run <= answers.length; run += 1) {
    for (let first = 0; ; first += 1) {
      const [isLost] = await lose(run, [first]);
      if (!isLost) break;
      for (let second = 0; isTwice; second += 1) {
        const [, isLostAgain] = await lose(run, [first, second]);
        if (!isLostAgain) break;
      }
    }
  }
  return ends;
}
