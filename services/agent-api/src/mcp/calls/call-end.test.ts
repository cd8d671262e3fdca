import { CONTROL_KINDS } from '@runyard/run-stream';
import { ByteBudget } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { type CallEndSources, COPIES, readCallEnd, STATE_BYTES_MAX } from './call-end.ts';
import { type CallSources, followCall } from './follow-call.ts';
import { toToolResult } from './tool-result.ts';

const RUN = { threadId: 'thread', runId: 'run' };
const STATE = Buffer.from(JSON.stringify({ text: 'a'.repeat(100_000) }));
const never = new AbortController().signal;

/** Opens sources in which the run has ended with a state of so many bytes, as large ones are read. */
function sourcesOf(valuesBytes: number, status: 'success' | 'running' | 'pending' = 'success') {
  const read: (number | undefined)[] = [];
  const engine: CallEndSources['engine'] = {
    readOutcome: async (_, max) => {
      read.push(max);
      return { status, error: null, values: max === undefined ? STATE : null, valuesBytes };
    },
  };
  return { engine, read, budget: new ByteBudget(10 * STATE.byteLength) };
}

it('a call whose run is in flight has no end, whatever its stream says, so that its thread stays', async () => {
  for (const status of ['pending', 'running'] as const) {
    await expect(readCallEnd(sourcesOf(0, status), RUN, never)).rejects.toThrow('is in flight');
  }
});

it('a large state has room for each copy of it, until its client has it and not for as long as a call may take', async () => {
  const { engine, budget } = sourcesOf(STATE.byteLength);
  const [patience, closed] = [new AbortController(), new AbortController()];
  const streams = {
    async *read() {
      yield { kind: CONTROL_KINDS.end, data: '{"status":"success"}', runId: RUN.runId };
    },
  };
  const watch = { watch: () => () => undefined };
  const sources = { engine, budget, streams, watch, ends: {} } as unknown as CallSources;
  const followed = await followCall(sources, RUN, { signal: patience.signal, closed: closed.signal });
  expect(followed?.end).toEqual({ kind: 'done', values: JSON.parse(STATE.toString()) });
  patience.abort();
  expect(budget.heldBytes).toBe(COPIES * STATE.byteLength);
  closed.abort();
  expect(budget.heldBytes).toBe(0);
});

it('a state that no answer takes is not read: the result is an error that says where it is', async () => {
  const { read, ...sources } = sourcesOf(STATE_BYTES_MAX + 1);
  const end = await readCallEnd(sources, RUN, never);
  expect(read).toEqual([expect.any(Number)]);
  expect(toToolResult(end!, { revision: '2025-11-25', isNew: false })).toEqual({
    isError: true,
    content: [{ type: 'text', text: expect.stringMatching(/more than 128 MiB.* thread has it/i) }],
  });
});
