import { expect, it } from 'vitest';
import { readCallEnd } from './call-end.ts';

it('a call whose run is in flight has no end, whatever its stream says, so that its thread stays', async () => {
  const run = { threadId: 'thread', runId: 'run' };
  for (const status of ['pending', 'running'] as const) {
    const engine = { readOutcome: async () => ({ status, error: null, values: null, valuesBytes: 0 }) };
    const results = { hold: () => Promise.reject(new Error('not expected')) };
    const reading = readCallEnd({ engine, results }, run, new AbortController().signal);
    await expect(reading).rejects.toThrow('is in flight');
  }
});
