import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { waitFor } from '@runyard/test-kit';
import type { Bench } from './bench.ts';
import { dumpThreadState } from './cancel-races.ts';
import type { BenchDeployment } from './deployment.ts';
import type { Random } from './random.ts';

/** Questions in the order in which they are asked; those of one entry are concurrent. */
export const QUESTIONS = {
  node: [['first'], ['last']],
  beside: [['left', 'right'], ['last']],
  inside: [['first'], ['second'], ['last']],
  memory: [['first'], ['second'], ['last']],
} as const;
const WHERE = Object.keys(QUESTIONS) as (keyof typeof QUESTIONS)[];
const DURABILITIES = ['sync', 'async', 'exit'] as const;
const ENDED_WITHIN_MS = 120_000;

export interface InterviewOptions {
  /** Milliseconds that each node takes before and after its question. */
  sleepMs: number;
  /** The chance that the run with an answer is cancelled with rollback, and the answer given again. Default 0. */
  rollBacks?: number;
  /** The index of the agent-api; default the first. */
  at?: number;
}

interface EndedRun {
  status: string;
  attempt: number;
  error?: unknown;
  result: { __interrupt__?: { id: string; value: string }[]; answers?: [string, unknown][] };
}

/**
 * Threads whose graph asks questions, each answered once with JSON of some type, by id or plain. An answer has to be
 * applied exactly as it was given, and no question asked again, whatever happens to the workers.
 */
export class Interviews {
  /** Deviations, by thread. */
  readonly wrong: string[] = [];
  /** Runs that asked or were answered, and were attempted more than once. */
  cutRuns = 0;
  answers = 0;
  rolledBack = 0;
  readonly #deployment: BenchDeployment;
  readonly #random: Random;

  constructor(deployment: BenchDeployment, random: Random) {
    this.#deployment = deployment;
    this.#random = random;
  }

  /** Runs one thread from its first question to its last answer. Gives up silently when a request is not accepted. */
  async hold(options: InterviewOptions): Promise<void> {
    const random = this.#random.fork(randomName(this.#random));
    const [where, durability] = [random.pick(WHERE), random.pick(DURABILITIES)];
    const threadId = randomUUID();
    const input = { where, sleepMs: options.sleepMs };
    let ended = await this.#run(threadId, { input, durability }, options);
    const given: [string, unknown][] = [];
    for (const questions of QUESTIONS[where]) {
      if (!ended) return;
      const asked = ended.result.__interrupt__ ?? [];
      const names = asked.map(({ value }) => value);
      if (ended.status !== 'success' || !isDeepStrictEqual([...names].sort(), [...questions])) {
        this.wrong.push(
          `${threadId} (${where}, ${durability}) is ${ended.status} and asks ${names}, not ${questions}: ${JSON.stringify(ended.error)}`,
        );
        return;
      }
      const canBePlain = this.#deployment.language === 'javascript' || asked.length === 1;
      const { resume, answers } = answerOf(asked, random, canBePlain);
      given.push(...answers);
      ended = await this.#answer(threadId, { command: { resume }, durability }, options, random);
      this.answers += answers.length;
    }
    if (ended) this.#judge(`${threadId} (${where}, ${durability})`, ended, given);
  }

  /** Measures that enough answers met a lost worker, and that all were applied as given. */
  measure(bench: Bench, needed: number): void {
    bench.log(`${this.answers} answers given, ${this.cutRuns} of their runs cut, ${this.rolledBack} rolled back`);
    bench.measureNone(
      'answers to interrupts lost, changed, applied twice or asked for again',
      this.wrong,
      this.answers,
    );
    bench.measureEnough('runs with questions or answers that were attempted again', this.cutRuns, needed);
  }

  #judge(name: string, { status, result }: EndedRun, given: [string, unknown][]): void {
    const { answers = [], __interrupt__ } = result;
    if (status !== 'success' || __interrupt__) this.wrong.push(`${name} is ${status}, ${JSON.stringify(result)}`);
    // A subgraph returns all its state, its input included: in its first run on the thread that is nothing.
    const sorted = (pairs: [string, unknown][]) => pairs.map((pair) => JSON.stringify(pair)).sort();
    if (!isDeepStrictEqual(sorted(answers), sorted(given))) {
      this.wrong.push(`${name} has ${JSON.stringify(answers)}, and was given ${JSON.stringify(given)}`);
    }
  }

  /**
   * Answers, sometimes after a rollback: that leaves the thread as it was, so that the same answer can be given again.
   */
  async #answer(threadId: string, body: object, options: InterviewOptions, random: Random) {
    if (!random.chance(options.rollBacks ?? 0)) return this.#run(threadId, body, options);
    const before = await dumpThreadState(this.#deployment, threadId);
    const cancelAfterMs = random.integer(0, 4 * options.sleepMs);
    const ended = await this.#run(threadId, body, { ...options, cancelAfterMs });
    // A run that had not begun is kept, as interrupted.
    if (ended?.status !== 'gone' && ended?.status !== 'interrupted') return ended;
    this.rolledBack += 1;
    if ((await dumpThreadState(this.#deployment, threadId)) !== before)
      this.wrong.push(`${threadId} was changed by a rollback`);
    return this.#run(threadId, body, options);
  }

  async #run(
    threadId: string,
    body: object,
    { at = 0, cancelAfterMs }: InterviewOptions & { cancelAfterMs?: number },
  ): Promise<EndedRun | undefined> {
    const path = `/threads/${threadId}/runs`;
    const request = { assistant_id: 'interview', if_not_exists: 'create', ...body };
    const call = await this.#deployment.call('POST', path, { body: request, at });
    if (call.outcome !== 'ok') return undefined;
    const { run_id: runId } = call.body as { run_id: string };
    if (cancelAfterMs !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, cancelAfterMs));
      await this.#deployment.call('POST', `${path}/${runId}/cancel?action=rollback`, { at });
    }
    return waitFor(() => this.#endOf(runId), {
      timeoutMs: ENDED_WITHIN_MS,
      intervalMs: 100,
      what: `the end of ${runId}`,
    });
  }

  async #endOf(runId: string): Promise<EndedRun | undefined> {
    const { rows } = await this.#deployment.pool.query<{
      status: string;
      attempt: number;
      error: unknown;
      result: Buffer | null;
    }>('SELECT status, attempt, error, result FROM run WHERE run_id = $1', [runId]);
    const [row] = rows;
    if (!row) return { status: 'gone', attempt: 0, result: {} };
    if (row.status === 'pending' || row.status === 'running') return undefined;
    if (row.attempt > 1) this.cutRuns += 1;
    const result = row.result ? String(this.#deployment.cipher.decrypt(row.result)) : '{}';
    return { ...row, result: JSON.parse(result) };
  }
}

function randomName(random: Random): string {
  return String(random.next());
}

/**
 * Returns the answers to all questions, each with one of its own when they are given by id.
 *
 * @param canBePlain false where several questions must have theirs by id, as with LangGraph for Python
 */
function answerOf(asked: { id: string; value: string }[], random: Random, canBePlain: boolean) {
  const values = ['yes', '', 0, 7.5, false, true, null, [], [null, 1], {}, { a: { b: 'ü' } }, randomName(random)];
  const byId = asked.map((each) => ({ ...each, answer: random.pick<unknown>(values) }));
  const plain = random.pick(values.filter((value) => value !== null));
  if (random.chance(0.5) && canBePlain) {
    return { resume: plain, answers: asked.map(({ value }): [string, unknown] => [value, plain]) };
  }
  return {
    resume: Object.fromEntries(byId.map(({ id, answer }) => [id, answer])),
    answers: byId.map(({ value, answer }): [string, unknown] => [value, answer]),
  };
}
