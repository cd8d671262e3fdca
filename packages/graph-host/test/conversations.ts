/** Threads of the graph `questions` whose runs lose their worker, at any moment. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ExecutionRequest, GraphHost } from '../src/index.ts';
import { executionRequest, memoryBackends, runToEnd } from './host-under-test.ts';

type Interrupt = { id: string; value: unknown };
/** Returns the resume value for the waiting interrupts. */
export type Answer = (asked: Interrupt[]) => unknown;
export type Durability = ExecutionRequest['durability'];

export const plain =
  (value: unknown): Answer =>
  () =>
    value;
export const byId =
  (value: unknown): Answer =>
  (asked) =>
    Object.fromEntries(asked.map(({ id }) => [id, value]));
export const onlyTheFirst =
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
   * @param lostAfter operations on storage after which the first attempt loses its worker; without it, it loses none
   */
  async run(request: Partial<ExecutionRequest>, lostAfter?: number): Promise<{ end: unknown; wasLost: boolean }> {
    const whole = executionRequest('questions', { threadId: this.threadId, durability: this.#durability, ...request });
    let wasLost = false;
    if (lostAfter !== undefined) {
      const checkpoints = this.backends.checkpoints.ofRun(whole.runId, lostAfter);
      const handle = this.#host.startRun(whole, { ...this.backends, checkpoints }, { onEvents: () => {} });
      wasLost = (await handle.settled).kind === 'fenced';
      await handle.stopped;
    }
    const attempt = lostAfter === undefined ? 1 : 2;
    const { outcome, values } = await runToEnd(this.#host, { ...whole, attempt }, this.backends);
    const { __interrupt__: asked = [], ...state } = values ?? {};
    this.#asked = asked as Interrupt[];
    return { end: { kind: outcome.kind, state, asked: this.#asked.map(({ value }) => value) }, wasLost };
  }

  answer(answer: Answer, lostAfter?: number) {
    return this.run({ command: { resume: answer(this.#asked) } }, lostAfter);
  }
}

/**
 * Answers the runs of a thread one after the other and returns how each ends. The run with the number in `lost` loses
 * its worker.
 */
export async function talk(
  host: GraphHost,
  where: string,
  answers: Answer[],
  durability: Durability,
  lost?: { run: number; after: number },
) {
  const conversation = new Conversation(host, durability);
  const ends: unknown[] = [];
  let wasLost = false;
  for (let run = 0; run === 0 || (!conversation.isOver && run <= answers.length); run += 1) {
    const after = lost?.run === run ? lost.after : undefined;
    const ended = await (run === 0
      ? conversation.run({ input: { where } }, after)
      : conversation.answer(answers[run - 1]!, after));
    wasLost ||= ended.wasLost;
    ends.push(ended.end);
  }
  return { ends, wasLost };
}

/** Talks again and again, with a worker that is lost after each operation on storage, and expects the same ends. */
export async function expectSameWhenLost(
  host: GraphHost,
  [, where, answers]: (typeof QUESTIONS)[number],
  durability: Durability,
): Promise<unknown[]> {
  const { ends } = await talk(host, where, answers, durability);
  expect(ends).toHaveLength(answers.length + 1);
  for (let run = 0; run <= answers.length; run += 1) {
    for (let after = 0, wasLost = true; wasLost; after += 1) {
      const talked = await talk(host, where, answers, durability, { run, after });
      expect(talked.ends, `run ${run}, lost after ${after} operations`).toEqual(ends);
      wasLost = talked.wasLost;
    }
  }
  return ends;
}
