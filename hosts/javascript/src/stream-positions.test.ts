import type { CheckpointPut, WritesPut } from '@runyard/checkpointer';
import { eventsBefore, streamPosition } from '@runyard/host-protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  executionRequest,
  type HostUnderTest,
  memoryBackends,
  runToEnd,
  startHost,
  startRun,
  type TestBackends,
} from '../test/host-under-test.ts';
import { LINES, startLine } from '../test/line-project.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('basic', { limits: { creditBytes: 10_000 } });
});
afterAll(() => host.close());

function backendsWithPositions(): TestBackends & { positions: number[] } {
  const positions: number[] = [];
  const note = async ({ streamPosition: position }: CheckpointPut | WritesPut) => {
    positions.push(position ?? Number.NaN);
  };
  const backends = memoryBackends();
  Object.assign(backends.checkpoints, { beforePut: note, beforeWrites: note });
  return { ...backends, positions };
}

const STEPS = { input: { until: 5 }, streamModes: ['values', 'updates', 'tasks'] };

it.each([{ emitsProtocolEvents: true }, { emitsProtocolEvents: false }])(
  'what a run stores says how many events it has emitted with it, %j',
  async (protocol) => {
    const backends = backendsWithPositions();
    const { events } = await runToEnd(host, executionRequest('steps', { ...STEPS, ...protocol }), backends);
    const { positions } = backends;
    expect(positions.length).toBeGreaterThan(10);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(positions.at(-1)).toBe(streamPosition(1, events.length));
  },
);

it.each(LINES)('so does what a run of LangGraph %s stores', async (version) => {
  const line = await startLine(version);
  try {
    for (const protocol of [{ emitsProtocolEvents: true }, { emitsProtocolEvents: false }]) {
      const backends = backendsWithPositions();
      const { events } = await runToEnd(line, executionRequest('steps', { ...STEPS, ...protocol }), backends);
      expect(backends.positions.at(-1)).toBe(streamPosition(1, events.length));
    }
  } finally {
    await line.close();
  }
});

it('events that wait for credit are among those that it has emitted', async () => {
  const backends = backendsWithPositions();
  const request = executionRequest('probe', { input: { do: 'flood' }, streamModes: ['custom'] });
  const { events } = await runToEnd(host, request, backends);
  expect(events).toHaveLength(2000);
  expect(backends.positions.at(-1)).toBe(streamPosition(1, 2000));
});

it('a later attempt counts anew, above all positions of the earlier one', async () => {
  const backends = backendsWithPositions();
  const request = executionRequest('steps', STEPS);
  const lost = { ...backends, checkpoints: backends.checkpoints.ofRun(request.runId, 6) };
  const run = startRun(host, request, lost as unknown as TestBackends);
  expect(await run.settled).toEqual({ kind: 'fenced' });
  await run.stopped;
  const earlier = [...backends.positions];
  const { events } = await runToEnd(host, { ...request, attempt: 2 }, backends);
  const later = backends.positions.slice(earlier.length);
  expect(Math.max(...earlier)).toBeLessThan(Math.min(...later));
  expect(later.at(-1)).toBe(streamPosition(2, events.length));
  expect(eventsBefore(later.at(-1)!)).toBe(events.length);
});

it('a state that is updated from outside of runs has no position', async () => {
  const backends = backendsWithPositions();
  await host.updateState({ graphId: 'steps', threadId: 'T', values: { until: 4 }, asNode: 'step' }, backends);
  expect(backends.positions).not.toEqual([]);
  expect(backends.positions.every(Number.isNaN)).toBe(true);
});
