import { expect, it, vi } from 'vitest';
import { RunWatch } from '../streams/run-watch.ts';
import { awaitResult, type RunResult } from './run-result.ts';

const END = {
  id: '1-0',
  runId: 'r',
  attempt: 1,
  isResumable: false,
  kind: 'run.end',
  event: 'end',
  data: '{"status":"success"}',
};
const away = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));

function sourcesWith(hold: () => Promise<RunResult | undefined>) {
  return {
    results: { hold },
    streams: {
      async *read() {
        yield END;
      },
    },
    watch: new RunWatch({ findInFlight: async () => new Set(), onError: () => undefined }),
    ends: { findOrPublish: () => expect.unreachable('the end was published') },
  };
}

it('a run that succeeded while the database was away is answered with its result once that can be read', async () => {
  const hold = vi.fn(async () => Buffer.from('{"n":1}')).mockImplementationOnce(away);
  const result = await awaitResult(sourcesWith(hold), { threadId: 't', runId: 'r' }, new AbortController().signal);
  expect(String(result)).toBe('{"n":1}');
});

it('waiting ends for a client that left, and fails at once when a result cannot be read for another reason', async () => {
  const left = new AbortController();
  const read = vi.fn(away);
  const waiting = awaitResult(sourcesWith(read), { threadId: 't', runId: 'r' }, left.signal);
  await expect.poll(() => read).toHaveBeenCalled();
  left.abort();
  expect(await waiting).toBeUndefined();
  const broken = sourcesWith(() => Promise.reject(new Error('broken')));
  await expect(awaitResult(broken, { threadId: 't', runId: 'r' }, new AbortController().signal)).rejects.toThrow(
    'broken',
  );
});

it('a result that is too much for the database is not requested again', async () => {
  const tooSlow = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  const read = vi.fn(() => Promise.reject(tooSlow));
  const waiting = awaitResult(sourcesWith(read), { threadId: 't', runId: 'r' }, new AbortController().signal);
  await expect(waiting).rejects.toBe(tooSlow);
  expect(read).toHaveBeenCalledTimes(1);
});
