import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Measurement, measure, warmUp } from './measurement.ts';
import { formatTables } from './report/tables.ts';
import type { Target } from './targets/target.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** Starts a server whose runs answer at once; every second request fails with `fails`. */
async function fakeTarget({ fails = false, onRun = (_path: string) => {} } = {}): Promise<Target> {
  let runs = 0;
  server = createServer((req, res) => {
    if (req.url === '/metrics') {
      res.end(`run_seconds_sum{kind="a"} ${runs * 0.002}\nrun_seconds_count{kind="a"} ${runs}\nother_total 5\n`);
      return;
    }
    runs += 1;
    onRun(req.url ?? '');
    if (fails && runs % 2 === 0) res.writeHead(503).end('{"detail":"busy"}');
    else if (req.url?.endsWith('/stream')) {
      res.write(': heartbeat\n\nevent: values\n');
      res.end('data: {"answer":"echo: How are you?"}\n\n');
    } else res.end('{"answer":"echo: How are you?","thread_id":"one"}');
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { name: 'fake', url, headers: {}, observed: [{ url, headers: {} }], stop: async () => undefined };
}

const measured = (target: Target, workload: 'durable' | 'first-event' = 'durable') =>
  measure({ target, targets: [target], workload, clients: 2, seconds: 0.1, round: 1, warmUpSeconds: 0.01 });

describe('a measurement', () => {
  it('counts operations, their times and the times that the server measured', async () => {
    const result = await measured(await fakeTarget());
    expect(result.failures).toBe(0);
    expect(result.operations).toBeGreaterThan(1);
    expect(result.perSecond).toBeGreaterThan(1);
    expect(result.p50Ms).toBeLessThanOrEqual(result.p99Ms);
    expect(result.stages['run_seconds{kind="a"}']?.meanMs).toBeCloseTo(2);
    expect(Object.keys(result.stages)).toHaveLength(1);
  });

  it('keeps failures apart, with the first answer', async () => {
    const result = await measured(await fakeTarget({ fails: true }));
    expect(result.failures).toBeGreaterThan(0);
    expect(result.firstFailure).toContain('answered 503: {"detail":"busy"}');
    expect(result.operations).toBeGreaterThan(0);
  });

  it('is made of a server that has done every workload before', async () => {
    const paths = new Set<string>();
    await warmUp(await fakeTarget({ onRun: (path) => paths.add(path.replace(/[0-9a-f-]{36}/, '{id}')) }), 2, 0.1);
    expect([...paths].sort()).toEqual(['/runs/stream', '/runs/wait', '/threads', '/threads/{id}/runs/wait']);
  });

  it('takes the time of the first event of a stream, not of a heartbeat', async () => {
    const result = await measured(await fakeTarget(), 'first-event');
    expect(result.failures).toBe(0);
    expect(result.operations).toBeGreaterThan(1);
  });
});

const measurement: Measurement = {
  target: 'gateway',
  workload: 'durable',
  clients: 1,
  round: 1,
  operations: 10,
  failures: 0,
  perSecond: 1,
  p50Ms: 1,
  p99Ms: 2,
  maxMs: 3,
  cpuMsPerOperation: { 'load driver': 1 },
  stages: {},
};

it('the tables put targets side by side with their ratio, and more clients beside fewer', () => {
  const row = (target: string, clients: number, perSecond: number): Measurement => ({
    ...measurement,
    target,
    clients,
    perSecond,
  });
  const text = formatTables([
    row('gateway', 1, 50),
    row('agent-api', 1, 100),
    row('gateway', 32, 200),
    row('agent-api', 32, 250),
  ]);
  const lines = text.split('\n').map((line) => line.trim().split(/\s{2,}/));
  expect(lines.find(([first]) => first === '1')).toEqual([
    '1',
    '50',
    '1.0',
    '2.0',
    '100',
    '1.0',
    '2.0',
    '0.50×',
    '1.00×',
    '1.00×',
  ]);
  expect(lines.find(([first]) => first === '32')?.slice(-3)).toEqual(['0.80×', '1.00×', '4.00×']);
});

it('a ratio is the middle one of those within a round', () => {
  const ofRounds = (target: string, figures: number[]): Measurement[] =>
    figures.map((perSecond, index) => ({
      ...measurement,
      target,
      round: index + 1,
      perSecond,
      p50Ms: 1000 / perSecond,
    }));
  const text = formatTables([...ofRounds('new', [200, 20, 300]), ...ofRounds('old', [100, 10, 290])]);
  expect(text.split('\n').find((line) => line.startsWith('  1 '))).toMatch(/2\.00× {2}0\.50× {2}/);
});
