import { randomUUID } from 'node:crypto';
import { type Client, readBody } from './client.ts';

/**
 * An operation that one client repeats. `perform` returns the milliseconds that count, which need not be all it took.
 */
export interface Workload {
  title: string;
  perform(client: Client): Promise<number>;
}

const ASSISTANT = { assistant_id: 'echo', input: { question: 'How are you?' } };

/** A run on a thread of its own: its steps are checkpointed, and the thread is kept. */
const durable: Workload = {
  title: 'durable run: POST /threads/{id}/runs/wait on a new thread',
  perform: (client) =>
    measureMs(async () => {
      const path = `/threads/${randomUUID()}/runs/wait`;
      expectEcho(await readBody(await client.post(path, { ...ASSISTANT, if_not_exists: 'create' })));
    }),
};

const stateless: Workload = {
  title: 'stateless run: POST /runs/wait',
  perform: (client) => measureMs(async () => expectEcho(await readBody(await client.post('/runs/wait', ASSISTANT)))),
};

/** Reads the stream to its end, as clients do; the time of its first event counts. */
const firstEvent: Workload = {
  title: 'time to first event: POST /runs/stream',
  async perform(client) {
    const startedAt = performance.now();
    let firstEventMs: number | undefined;
    let text = '';
    for await (const chunk of await client.post('/runs/stream', { ...ASSISTANT, stream_mode: ['values'] })) {
      text += chunk;
      // An event ends at an empty line; a heartbeat, which begins with a colon, is none.
      if (firstEventMs === undefined && /^(event|data):[\s\S]*?\r?\n\r?\n/m.test(text)) {
        firstEventMs = performance.now() - startedAt;
      }
    }
    expectEcho(text);
    if (firstEventMs === undefined) throw new Error('the stream had no event');
    return firstEventMs;
  },
};

const thread: Workload = {
  title: 'thread: POST /threads',
  perform: (client) =>
    measureMs(async () => {
      const body = await readBody(await client.post('/threads', {}));
      if (!body.includes('"thread_id"')) throw new Error(`no thread was made: ${body.slice(0, 300)}`);
    }),
};

export const WORKLOADS = { durable, stateless, 'first-event': firstEvent, thread } satisfies Record<string, Workload>;
export type WorkloadName = keyof typeof WORKLOADS;

async function measureMs(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Checks the answer, because a server that fails fast must not look fast. */
function expectEcho(body: string): void {
  if (!body.includes('echo: How are you?')) throw new Error(`the run did not answer: ${body.slice(0, 300)}`);
}
