import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import type { BenchDeployment } from './deployment.ts';
import { History } from './history.ts';

/** The settings of a deployment whose own code knows its users (`project/auth.ts`). */
export const USER_SETTINGS = {
  LANGGRAPH_AUTH: JSON.stringify({ path: './auth.ts:auth' }),
  // Users' fields are stored with runs, encrypted.
  LANGGRAPH_AES_KEY: 'the-faults-need-a-key-of-32-char',
};

const USERS = ['ada', 'bob'] as const;
const FIRST_THREAD = /^\/threads\/[0-9a-f-]{35}([0-9a-f])/;
/** Milliseconds between two looks of a stranger while faults happen. */
const LOOKS_EVERY_MS = 50;

/** Returns the user of a thread, by the last digit of its id; of requests about no thread, the first. */
function userOf(path: string): (typeof USERS)[number] {
  const [, digit = '0'] = FIRST_THREAD.exec(path) ?? [];
  return Number.parseInt(digit, 16) % 2 === 0 ? USERS[0] : USERS[1];
}

const headersOf = (user: string) => ({ authorization: `Bearer ${user}` });
export const ownerHeaders = (path: string) => headersOf(userOf(path));
const strangerHeaders = (path: string) => headersOf(userOf(path) === USERS[0] ? USERS[1] : USERS[0]);

export interface StrangersFindings {
  /** Answers that showed what is of another user, of so many. */
  seen: string[];
  calls: number;
  /** Threads with another user than at first, of so many. */
  lost: string[];
  threads: number;
}

/** Measures what strangers found in all deployments of a goal: one of them may have no threads. */
export function measureStrangers(bench: Bench, findings: readonly StrangersFindings[]): void {
  const sum = (count: (each: StrangersFindings) => number) => findings.reduce((all, each) => all + count(each), 0);
  const seen = findings.flatMap((each) => each.seen);
  bench.measureNone(
    'answers to a user about what is of another',
    seen,
    sum(({ calls }) => calls),
    20,
  );
  bench.measureNone(
    'threads that lost their user',
    findings.flatMap(({ lost }) => lost),
    sum(({ threads }) => threads),
  );
}

/** Looks at threads and runs of others, as long as faults happen and once more at their end. */
export class Strangers {
  readonly #deployment: BenchDeployment;
  readonly #history = new History();
  readonly #looking: Promise<void>;
  #isOver = false;

  constructor(deployment: BenchDeployment) {
    this.#deployment = deployment;
    this.#looking = this.#look();
  }

  /** Looks once more, and returns what was found: nothing may be seen, and every thread still has its user. */
  async conclude(): Promise<StrangersFindings> {
    this.#isOver = true;
    await this.#looking;
    const { rows } = await this.#deployment.pool.query<{ thread_id: string; owner: string | null }>(
      "SELECT thread_id, metadata->>'owner' AS owner FROM thread",
    );
    for (const { thread_id } of rows.slice(-200)) await this.#ask(thread_id);
    const seen = this.#history.calls.filter(({ status, body }) => status === 200 && JSON.stringify(body) !== '[]');
    const wrong = rows.filter(({ thread_id, owner }) => owner !== userOf(`/threads/${thread_id}`));
    return {
      seen: seen.map(({ method, path, body }) => `${method} ${path}: ${JSON.stringify(body).slice(0, 200)}`),
      calls: this.#history.calls.length,
      lost: wrong.map(({ thread_id, owner }) => `${thread_id} is of ${owner}`),
      threads: rows.length,
    };
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      const known = this.#deployment.history.calls.filter(({ outcome }) => outcome === 'ok');
      const [, threadId] = /^\/threads\/([0-9a-f-]{36})/.exec(known.at(-1)?.path ?? '') ?? [];
      if (threadId !== undefined) await this.#ask(threadId);
      await pause(LOOKS_EVERY_MS);
    }
  }

  async #ask(threadId: string): Promise<void> {
    const path = `/threads/${threadId}`;
    const url = this.#deployment.url();
    const headers = strangerHeaders(path);
    await Promise.all([
      this.#history.call('GET', `${url}${path}`, { headers }),
      this.#history.call('GET', `${url}${path}/runs`, { headers }),
      this.#history.call('GET', `${url}${path}/state`, { headers }),
      this.#history.call('POST', `${url}/threads/search`, { headers, body: { ids: [threadId] } }),
    ]);
  }
}
