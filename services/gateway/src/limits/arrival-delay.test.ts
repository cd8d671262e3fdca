import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArrivalDelay } from './arrival-delay.ts';

const MAX_MS = 200;

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('requests that waited to be read', () => {
  let server: Server;
  let delay: ArrivalDelay;
  let workMs: number;
  let seen: number;

  const ask = async (): Promise<number> => {
    const asked = request({ port: (server.address() as AddressInfo).port, agent: false });
    asked.end();
    const [answer] = await once(asked, 'response');
    answer.resume();
    return answer.statusCode;
  };

  beforeEach(async () => {
    delay = new ArrivalDelay({ maxMs: MAX_MS });
    seen = 0;
    server = createServer((req, res) => {
      if (delay.takeProbe(req)) return;
      seen += 1;
      if (delay.isTooLong) {
        res.writeHead(503).end();
        return;
      }
      work(workMs);
      res.end();
    });
    delay.observe(server);
    server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
    await once(server, 'listening');
  });
  afterEach(async () => {
    delay.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('are refused while they have waited for too long, and are served again when they have not', async () => {
    workMs = 15;
    const statuses = await Promise.all(Array.from({ length: 200 }, ask));
    const served = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status === 503)).toHaveLength(200 - served);
    // These were read in the first moments, of a burst that would have taken three seconds.
    expect(served).toBeGreaterThan(5);
    expect(served).toBeLessThan(100);
    expect(await ask()).toBe(200);
  });

  it('are not refused because the process stood still once', async () => {
    workMs = 0;
    await ask();
    const asked = [ask(), ask(), ask()];
    work(3 * MAX_MS);
    expect(await Promise.all(asked)).toEqual([200, 200, 200]);
  });

  it('are not refused when each takes long and none waits for another', async () => {
    workMs = MAX_MS + 50;
    for (let count = 0; count < 5; count += 1) expect(await ask()).toBe(200);
  });

  it('are counted alone: the probe that measures their wait is no request', async () => {
    workMs = 0;
    const until = performance.now() + 500;
    let asked = 0;
    for (; performance.now() < until; asked += 1) await ask();
    expect(seen).toBe(asked);
  });
});
