import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executionRequest, type HostUnderTest, memoryBackends, runToEnd, startHost } from '../test/host-under-test.ts';
import type { ExecutionRequest } from './index.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host.close());

type Interrupt = { id: string; value: unknown };
/** Returns the resume value for the waiting interrupts. */
type Answer = (asked: Interrupt[]) => unknown;
type Durability = ExecutionRequest['durability'];

const DURABILITIES: Durability[] = ['sync', 'async', 'exit'];
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

/** A thread whose runs are attempted as often as they lose their worker. */
class Conversation {
  readonly threadId = randomUUID();
  readonly backends = memoryBackends();
  readonly #durability: Durability;
  #asked: Interrupt[] = [];

  constructor(durability: Durability) {
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
      const handle = host.startRun(whole, { ...this.backends, checkpoints }, { onEvents: () => {} });
      wasLost = (await handle.settled).kind === 'fenced';
      await handle.stopped;
    }
    const attempt = lostAfter === undefined ? 1 : 2;
    const { outcome, values } = await runToEnd(host, { ...whole, attempt }, this.backends);
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
async function talk(where: string, answers: Answer[], durability: Durability, lost?: { run: number; after: number }) {
  const conversation = new Conversation(durability);
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

describe.each(DURABILITIES)(
  'a run with durability %s whose worker is lost at any moment ends as if it had not been',
  (durability) => {
    it.each([
      ['questions side by side, answered together', 'beside', [plain({ a: 1 }), plain('last')]],
      ['questions side by side, answered by id', 'beside', [byId(null), byId('last')]],
      ['questions side by side, answered one by one', 'beside', [onlyTheFirst(1), onlyTheFirst(0), plain('')]],
      ['two questions of one node', 'twice', [plain('same'), plain('same'), plain('same')]],
      ['questions of a subgraph', 'inside', [plain('same'), plain('same'), plain('same')]],
      ['questions of a subgraph, answered by id', 'inside', [byId(0), byId(''), byId(['list'])]],
      ['questions of a subgraph with a memory', 'memory', [plain(false), plain(false), plain(false)]],
    ])('%s', async (_what, where, answers) => {
      const { ends } = await talk(where, answers, durability);
      expect(ends).toHaveLength(answers.length + 1);
      for (let run = 0; run <= answers.length; run += 1) {
        for (let after = 0, wasLost = true; wasLost; after += 1) {
          const talked = await talk(where, answers, durability, { run, after });
          expect(talked.ends, `run ${run}, lost after ${after} operations`).toEqual(ends);
          wasLost = talked.wasLost;
        }
      }
    });
  },
);
