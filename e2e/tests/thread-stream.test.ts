import { describe, expect, it } from 'vitest';
import { newClient, type SdkEvent } from '../harness/client.ts';

const client = newClient();
const input = { name: 'told', steps: 3, stepMs: 5 };

/** Reads the stream of a thread until so many runs have ended, and leaves. */
async function follow(
  threadId: string,
  options: JoinOptions,
  runs: number,
  onceOpen?: () => Promise<void>,
): Promise<SdkEvent[]> {
  const leaving = new AbortController();
  const events: SdkEvent[] = [];
  const following = newClient({
    fetch: async (...request) => {
      const response = await fetch(...request);
      await onceOpen?.();
      return response;
    },
  });
  const stream = following.threads.joinStream(threadId, { ...options, signal: leaving.signal });
  for await (const event of stream) {
    events.push(event as SdkEvent);
    if (isEnd(event as SdkEvent) && --runs === 0) break;
  }
  leaving.abort();
  return events;
}

type JoinOptions = NonNullable<Parameters<typeof client.threads.joinStream>[1]>;

const isEnd = ({ data }: SdkEvent) => (data as { status?: string }).status === 'run_done';
const told = (events: SdkEvent[]) => events.map(({ event, data }) => ({ event, data }));

describe('the stream of a thread, by the SDK', () => {
  it('has sequential runs, and resumes after any of their events as if it had never been left', async () => {
    const { thread_id } = await client.threads.create();
    const ids: string[] = [];
    const whole = await follow(thread_id, {}, 2, async () => {
      for (let run = 0; run < 2; run++) {
        const { run_id } = await client.runs.create(thread_id, 'slow', {
          input,
          streamMode: 'updates',
          streamResumable: true,
        });
        ids.push(run_id);
        await client.runs.join(thread_id, run_id);
      }
    });
    const updates = ['updates', 'updates', 'updates'];
    expect(whole.map(({ event }) => event)).toEqual([
      ...['metadata', ...updates, 'metadata'],
      ...['metadata', ...updates, 'metadata'],
    ]);
    expect(told(whole)[4]).toEqual({ event: 'metadata', data: { status: 'run_done', run_id: ids[0] } });
    expect(new Set(whole.map(({ id }) => id)).size).toBe(10);
    for (const seen of [1, 4, 6]) {
      const lastEventId = whole[seen - 1]!.id;
      const rest = whole.slice(seen);
      expect(await follow(thread_id, { lastEventId }, rest.filter(isEnd).length)).toEqual(rest);
    }
    expect(await follow(thread_id, { lastEventId: '-1' }, 2)).toEqual(whole);
  });

  it('with lifecycle and state_update has where runs begin and end, and writes of state between them', async () => {
    const { thread_id } = await client.threads.create({ graphId: 'slow' });
    let run_id = '';
    const events = await follow(thread_id, { streamMode: ['lifecycle', 'state_update'] }, 1, async () => {
      await client.threads.updateState(thread_id, { values: { name: 'written' }, asNode: 'step' });
      ({ run_id } = await client.runs.create(thread_id, 'slow', { input, streamMode: 'updates' }));
    });
    expect(told(events)).toEqual([
      {
        event: 'state_update',
        data: { thread_id, state: expect.objectContaining({ values: expect.objectContaining({ name: 'written' }) }) },
      },
      { event: 'metadata', data: { run_id, attempt: 1 } },
      { event: 'metadata', data: { status: 'run_done', run_id } },
    ]);
  });
});
