import type { RunRecord } from '@runyard/run-engine';
import type { AppendEvent, AppendOptions, StreamFence } from '@runyard/run-stream';
import { silentLogger } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { tellMissingEnds } from './missing-ends.ts';
import { RunWatch } from './run-watch.ts';

const record = (run: Partial<RunRecord>) =>
  ({ threadId: 't', attempt: 1, kwargs: {}, error: null, ...run }) as RunRecord;

it('an end that nobody told is told as it is in the database, and a run that is under way has none', async () => {
  const runs = [
    record({ runId: 'done', status: 'success', kwargs: { resumable: true } }),
    record({ runId: 'failed', status: 'error', attempt: 3, error: { error: 'Oops', message: 'no' } }),
    record({ runId: 'running', status: 'running' }),
  ];
  const appended: { fence: StreamFence; events: AppendEvent[]; options: AppendOptions }[] = [];
  const streams = {
    append: async (fence: StreamFence, events: AppendEvent[], options: AppendOptions) => {
      appended.push({ fence, events, options });
      return events.map(() => '1-0');
    },
  };
  const engine = { findRuns: async () => runs, currentEpoch: async () => 7n };
  await tellMissingEnds({ engine, streams, logger: silentLogger }, ['done', 'failed', 'running']);
  const fence = { threadId: 't', epoch: 7n };
  expect(appended).toMatchObject([
    { fence, events: [{ kind: 'run.end', data: '{"status":"success"}' }], options: { resumable: true, endsRun: true } },
    {
      fence,
      events: [
        { kind: 'error', attempt: 3, data: '{"error":"Oops","message":"no"}' },
        { kind: 'run.end', event: 'end', data: '{"status":"error"}' },
      ],
    },
  ]);
  expect(appended).toHaveLength(2);
});

it('who wrote an end down has the time between two checks to tell it', async () => {
  const untold: string[][] = [];
  let inFlight = new Set(['a', 'b']);
  const watch = new RunWatch({
    findInFlight: async () => inFlight,
    onError: (error) => expect.unreachable(String(error)),
    onUntold: async (runIds) => void untold.push(runIds),
  });
  const leave = ['a', 'b', 'c'].map((runId) => watch.watch(runId, () => undefined));
  await watch.check();
  expect(untold).toEqual([]);
  inFlight = new Set(['b']);
  await watch.check();
  expect(untold).toEqual([['c']]);
  leave[2]!();
  await watch.check();
  expect(untold).toEqual([['c'], ['a']]);
  for (const each of leave) each();
});
