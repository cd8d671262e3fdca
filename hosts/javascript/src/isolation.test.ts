import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BackendError } from '@runyard/checkpointer';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import {
  executionRequest,
  fixtures,
  type HostUnderTest,
  memoryBackends,
  runToEnd,
  startHost,
  startRun,
} from '../test/host-under-test.ts';

import { temporaryProject } from '../test/temporary-project.ts';

/** Variables that name a project's own server. */
const OWN_ADDRESS = {
  PORT: expect.stringMatching(/^\d+$/),
  LANGGRAPH_API_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
};

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('basic', { environment: { ALLOWED: 'yes' }, heapLimitMb: 256 });
});
afterAll(() => host.close());

const until = (condition: () => boolean | Promise<boolean>) => expect.poll(condition, { interval: 5 }).toBe(true);
const isAlive = (pid: number) =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/\) Z /.test(stat),
    () => false,
  );

it('a project does not get the encryption keys of its deployment, even when its own file has them', async () => {
  const graph = await readFile(`${fixtures}basic/probe.ts`, 'utf8');
  const directory = await temporaryProject({
    'agent.ts': graph,
    'langgraph.json': JSON.stringify({
      graphs: { agent: './agent.ts:graph' },
      env: {
        LANGGRAPH_AES_KEY: 'k',
        LANGGRAPH_AES_LEGACY_KEY: 'l',
        LANGGRAPH_AES_FALLBACK_KEYS: 'f',
        MINE: 'm',
        PORT: '4000',
      },
    }),
  });
  const own = await startHost('basic', { configPath: `${directory}/langgraph.json` });
  try {
    const { values } = await runToEnd(own, executionRequest('agent', { input: { do: 'environment' } }));
    expect((values!.seen as { env: object }).env).toEqual({ ...OWN_ADDRESS, MINE: 'm', PORT: '4000' });
  } finally {
    await own.close();
  }
});

it('a project that has no server yet is told so at its own address', async () => {
  const { values } = await runToEnd(host, executionRequest('probe', { input: { do: 'ask the own server' } }));
  const { answers } = values!.seen as { answers: object[] };
  expect(answers).toEqual(Array(3).fill({ detail: expect.stringContaining('no server') }));
});

it('a project gets the allowed variables and nothing else of its parent', async () => {
  vi.stubEnv('PARENT_SECRET', 'do not tell');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { values } = await runToEnd(host, executionRequest('probe', { input: { do: 'environment' } }));
  const { env, argv } = values!.seen as { env: Record<string, string>; argv: string[][] };
  expect(env).toEqual({ ...OWN_ADDRESS, ALLOWED: 'yes', FROM_CONFIG: 'yes' });
  expect(JSON.stringify(argv)).not.toMatch(/secret|PARENT/i);
  expect(argv[1]).toContain('--max-old-space-size=256');
});

it.runIf(process.platform === 'linux')(
  'the kernel kills a host before its parent when the machine runs out of memory',
  async () => {
    expect(await readFile(`/proc/${host.pid}/oom_score_adj`, 'utf8')).toBe('500\n');
  },
);

it('a log line names the run and the graph that printed it', async () => {
  const request = executionRequest('probe', { input: { do: 'print' } });
  const { runId, threadId, graphId } = request;
  await runToEnd(host, request);
  const who = { runId, threadId, graphId };
  expect(host.logs).toContainEqual({ level: 'info', message: 'printed by a node', ...who });
  expect(host.logs).toContainEqual({ level: 'warn', message: 'warned by a node', ...who });
});

it('a project gets the logger of the SDK, whose lines have their level, run, node and data', async () => {
  const request = executionRequest('probe', { input: { do: 'log' } });
  const { runId, threadId, graphId } = request;
  const { outcome } = await runToEnd(host, request);
  expect(outcome.kind).toBe('done');
  const who = { runId, threadId, graphId };
  const langgraph_node = 'probe';
  const error = { name: 'TypeError', message: 'no cup', stack: expect.stringContaining('probe.ts') };
  expect(host.logs.filter((line) => line.runId === runId)).toEqual([
    { level: 'info', message: 'an order came', ...who, data: { langgraph_node, order: 7, items: ['tea'] } },
    { level: 'warn', message: 'it is late', ...who, data: { langgraph_node, minutes: 3 } },
    { level: 'error', message: 'it failed no cup', ...who, data: { langgraph_node, error } },
    { level: 'debug', message: 'details', ...who, data: { langgraph_node } },
    { level: 'debug', message: 'round', ...who, data: { left_out: 'no JSON' } },
    { level: 'info', message: 'much', ...who, data: { left_out: 'too much' } },
  ]);
});

it('a host passes on what is written past the console', async () => {
  await runToEnd(host, executionRequest('probe', { input: { do: 'write to descriptors' } }));
  await until(() => host.logs.some(({ message }) => message === 'past the console, to stderr'));
  expect(host.logs).toContainEqual({ level: 'info', message: 'past the console' });
  expect(host.logs).toContainEqual({ level: 'error', message: 'past the console, to stderr' });
});

it('a host limits output per second, and reports how many lines it dropped', async () => {
  const quiet = await startHost('basic', { limits: { logBytesPerSecond: 50_000 } });
  await runToEnd(quiet, executionRequest('probe', { input: { do: 'print much' } }));
  const dropped = /^(\d+) lines of output were dropped/;
  await until(() => quiet.logs.some(({ message }) => dropped.test(message)));
  const passed = quiet.logs.filter(({ message }) => message.startsWith('line ')).length;
  const said = Number(dropped.exec(quiet.logs.at(-1)?.message ?? '')?.[1]);
  expect(passed).toBeGreaterThan(100);
  expect(passed).toBeLessThan(1000);
  expect(passed + said).toBe(5001);
  await quiet.close();
});

it('all runs go on when user code leaves a rejection unhandled or calls process.exit', async () => {
  const bystander = startRun(host, executionRequest('steps', { input: { until: 20 } }));
  const request = executionRequest('probe', { input: { do: 'reject' } });
  const rejects = await runToEnd(host, request);
  const exits = await runToEnd(host, executionRequest('probe', { input: { do: 'exit' } }));
  expect(rejects.values).toMatchObject({ seen: 'went on' });
  expect(exits.outcome).toMatchObject({
    kind: 'failed',
    error: { error: 'ProcessExitError', message: expect.stringContaining('process.exit(3)') },
  });
  expect(await bystander.settled).toMatchObject({ kind: 'done' });
  const { runId } = request;
  await until(() =>
    host.logs.some(
      (line) => line.level === 'error' && line.message.includes('nobody catches this') && line.runId === runId,
    ),
  );
});

it("a run fails, with the error's name, when its code throws where nobody can catch it, and other runs go on", async () => {
  const bystander = startRun(host, executionRequest('steps', { input: { until: 20 } }));
  const { outcome } = await runToEnd(host, executionRequest('probe', { input: { do: 'throw later' } }));
  const error = { error: 'UncaughtExceptionError', message: 'TypeError: nobody could catch this' };
  expect(outcome).toMatchObject({ kind: 'failed', error });
  expect(await bystander.settled).toMatchObject({ kind: 'done' });
});

it("a run fails, with the error's name, when its values are nested too deeply", async () => {
  const { outcome } = await runToEnd(host, executionRequest('probe', { input: { do: 'deep' } }));
  expect(outcome).toMatchObject({ kind: 'failed', error: { error: 'UnserializableValueError' } });
});

it("a run fails, with the error's name, when its interrupt is nested too deeply, even if no stream shows it", async () => {
  const request = executionRequest('probe', { input: { do: 'ask deeply' }, streamModes: ['custom'] });
  const { outcome } = await runToEnd(host, request, memoryBackends());
  expect(outcome).toMatchObject({ kind: 'failed', error: { error: 'UnserializableValueError' } });
});

it('a host still answers while a graph floods the descriptors of the process', async () => {
  const flooding = startRun(host, executionRequest('probe', { input: { do: 'flood descriptors' } }));
  const { outcome } = await runToEnd(host, executionRequest('steps', { input: { until: 3 } }));
  expect([outcome.kind, (await flooding.settled).kind]).toEqual(['done', 'done']);
  await until(() => host.logs.some(({ message }) => /lines of output were dropped/.test(message)));
  expect(host.logs.filter(({ message }) => message.startsWith('xxx')).length).toBeLessThan(40_000);
});

it('runs of a host that ran out of memory end with that cause', async () => {
  const small = await startHost('basic', { heapLimitMb: 64 });
  const bystander = startRun(small, executionRequest('slow', { input: { seen: [] } }));
  const { outcome } = await runToEnd(small, executionRequest('probe', { input: { do: 'out of memory' } }));
  const lost = { kind: 'lost', cause: 'outOfMemory', reason: expect.stringContaining('it ran out of memory') };
  expect([outcome, await bystander.settled]).toEqual([lost, lost]);
  await bystander.stopped;
  await small.close();
});

it('a host that does not answer is killed, even while its process is stopped', async () => {
  for (const standsStill of [false, true]) {
    const silent = await startHost();
    const run = startRun(silent, executionRequest('probe', { input: { do: 'spin' } }));
    await until(() => silent.logs.some(({ message }) => message === 'spinning'));
    if (standsStill) process.kill(silent.pid, 'SIGSTOP');
    await silent.kill();
    const reason = 'the graph host did not answer and was killed';
    expect(await run.settled).toEqual({ kind: 'lost', cause: 'unresponsive', reason });
    expect(await isAlive(silent.pid)).toBe(false);
  }
});

it('a run that is cut short is told to stop, and its parent learns when it has', async () => {
  const fenced = async () => {
    throw new BackendError('fenced', 'another attempt owns the thread');
  };
  const backends = { ...memoryBackends(), store: { batch: fenced } };
  const run = startRun(host, executionRequest('probe', { input: { do: 'store' } }), backends);
  expect(await run.settled).toEqual({ kind: 'fenced' });
  await run.stopped;
});

it('a host holds events back while nobody takes them, and delivers all of them in the end', async () => {
  const held = await startHost('basic', { limits: { creditBytes: 10_000 } });
  let take = () => {};
  const blocked = new Promise<void>((resolve) => {
    take = resolve;
  });
  const received: number[] = [];
  const run = held.startRun(
    executionRequest('probe', { input: { do: 'flood' }, streamModes: ['custom'] }),
    { store: { batch: async () => [] } },
    {
      onEvents: (events) => {
        for (const { data } of events) received.push(JSON.parse(data).i);
        return blocked;
      },
    },
  );
  await until(() => received.length > 0);
  for (let turn = 0; turn < 20; turn++) await held.ping();
  expect(received.length).toBeLessThan(20);
  take();
  expect(await run.settled).toMatchObject({ kind: 'done' });
  expect(received).toEqual(Array.from({ length: 2000 }, (_, index) => index));
  await held.close();
});

it("a run fails, with the error's name, when its events fill the buffer", async () => {
  const held = await startHost('basic', { limits: { creditBytes: 10_000, bufferBytes: 100_000 } });
  let take = () => {};
  const blocked = new Promise<void>((resolve) => {
    take = resolve;
  });
  const request = executionRequest('probe', { input: { do: 'flood' }, streamModes: ['custom'] });
  const run = held.startRun(request, { store: { batch: async () => [] } }, { onEvents: () => blocked });
  await until(() => held.logs.some(({ message }) => message === 'flooded'));
  take();
  expect(await run.settled).toMatchObject({
    kind: 'failed',
    error: {
      error: 'StreamBufferOverflowError',
      message: 'The run streamed more than 100000 bytes that could not be delivered',
    },
  });
  await held.close();
});

it('a host replaces an event that is too large by a gap, and goes on', async () => {
  const held = await startHost('basic', { limits: { eventBytes: 1_000_000, bufferBytes: 100_000 } });
  const request = executionRequest('probe', { input: { do: 'large' }, streamModes: ['updates', 'values', 'tasks'] });
  const { events, outcome } = await runToEnd(held, request);
  expect(outcome).toMatchObject({ kind: 'done' });
  expect(events.map(({ event }) => event)).toEqual(['values', 'tasks', 'gap', 'gap', 'gap']);
  expect(events[2]!.data).toEqual({ reason: 'too_large', after: null, event: 'updates', bytes: 5_000_021 });
  await held.close();
});

it('a host delivers a single event that is larger than the buffer', async () => {
  const held = await startHost('basic', { limits: { creditBytes: 1000, bufferBytes: 100_000 } });
  const { events, outcome } = await runToEnd(
    held,
    executionRequest('probe', { input: { do: 'large' }, streamModes: ['updates'] }),
  );
  expect(outcome).toMatchObject({ kind: 'done' });
  expect(events).toEqual([{ event: 'updates', data: { probe: { seen: 'x'.repeat(5_000_000) } } }]);
  await held.close();
});

it('every open run is settled as lost, with the reason, when its host is killed', async () => {
  const doomed = await startHost();
  const runs = ['wait 1', 'wait 2'].map(() => startRun(doomed, executionRequest('slow', { input: { seen: [] } })));
  await until(() => doomed.logs.filter(({ message }) => message === 'tool waits').length === 2);
  process.kill(doomed.pid, 'SIGKILL');
  for (const run of runs)
    expect(await run.settled).toEqual({ kind: 'lost', cause: 'exited', reason: 'the graph host ended by SIGKILL' });
  expect(doomed.exits).toEqual(['ended by SIGKILL']);
  expect(await startRun(doomed, executionRequest('echo')).settled).toMatchObject({ kind: 'lost' });
  await expect(doomed.ping()).rejects.toMatchObject({ kind: 'gone' });
  await doomed.close();
});

it('a host ends with its parent, even while user code keeps its event loop busy', async () => {
  const script = fileURLToPath(new URL('../test/parent-that-dies.ts', import.meta.url));
  for (const mode of ['idle', 'busy']) {
    const parent = spawn(process.execPath, ['--import', 'tsx', script, mode], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
    const pid = Number(line);
    expect(await isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await until(async () => !(await isAlive(pid)));
  }
});

it('a host that is closed drains its open runs and exits by itself', async () => {
  const closing = await startHost();
  const run = startRun(
    closing,
    executionRequest('steps', { input: { until: 400 }, config: { configurable: {}, recursion_limit: 500 } }),
  );
  await until(() => run.events.length > 2);
  await closing.close();
  expect(await run.settled).toEqual({ kind: 'drained' });
  expect(closing.exits).toEqual([]);
});
