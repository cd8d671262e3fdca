import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Metrics } from '@runyard/service-kit';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { checkHealth } from '../drivers/process/health-check.ts';
import { readServiceMetrics } from './service-metrics.ts';

let server: Server;
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** @param body is the answer at every path; `without end` sends as long as the client reads */
async function answering(body: string | 'without end'): Promise<{ url: string; sent: () => number }> {
  let sent = 0;
  server = createServer((_req, res) => {
    if (body !== 'without end') return res.end(body);
    const piece = Buffer.alloc(1024 * 1024, ' ');
    const more = () => {
      for (let goesOn = true; goesOn && !res.destroyed; sent += piece.length) goesOn = res.write(piece);
    };
    res.on('drain', more);
    return more();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => sent };
}

describe('the metrics of a service', () => {
  it('are read as the service reports them', async () => {
    const metrics = new Metrics();
    metrics.gauge('lg_api_num_pending_runs', 'Runs that wait.', ['project_id'], (gauge) => {
      gauge.set({ project_id: 'of "quotes", {braces} and \\\n' }, 3);
    });
    const { url } = await answering(await metrics.text());
    expect(await readServiceMetrics(url)).toEqual({ pendingRuns: 3 });
  });

  it('are null when the answer has none, or no numbers, or never ends, because a project may answer at that path', async () => {
    expect(await readServiceMetrics((await answering('hello')).url)).toBeNull();
    server.close();
    const opposite = ['1e999', '-1e999'].map((value) => `lg_api_num_pending_runs ${value}\n`).join('');
    expect(await readServiceMetrics((await answering(opposite)).url)).toBeNull();
    server.close();
    const { url, sent } = await answering('without end');
    expect(await readServiceMetrics(url)).toBeNull();
    expect(sent()).toBeLessThan(64 * 1024 * 1024);
  });

  it('are null when the answer leads elsewhere, where nobody is asked', async () => {
    const { url } = await answering('lg_api_num_pending_runs 3');
    const asked: unknown[] = [];
    const leading = createServer((req, res) => {
      asked.push(req.url);
      res.writeHead(302, { location: `${url}/metrics` }).end();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void leading.close());
    await once(leading, 'listening');
    const at = `http://127.0.0.1:${(leading.address() as AddressInfo).port}`;
    expect(await readServiceMetrics(at)).toBeNull();
    expect(await checkHealth(at, new AbortController().signal)).toMatch(/^it answers 302/);
    expect(asked).toEqual(['/metrics', '/ok?check_db=1']);
  });
});
