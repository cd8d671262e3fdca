import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, silentLogger } from '@runyard/service-kit';
import { HANGS_AFTER_MS, waitFor } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Child } from './child.ts';
import { SupervisedService, urlOf } from './supervised-service.ts';

const AGENT = `
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
const { behaviour } = JSON.parse(readFileSync(3, 'utf8'));
if (behaviour === 'ends') process.exit(4);
if (behaviour === 'deaf') process.on('SIGTERM', () => {});
if (behaviour === 'graceful') process.once('SIGTERM', () => process.once('SIGTERM', () => process.exit(0)));
let answers = true;
createServer((request, response) => {
  if (request.url === '/hang') answers = false;
  if (!answers) return console.log('does not answer any more');
  response.writeHead(behaviour === 'ill' ? 503 : 200).end('{}');
  if (behaviour === 'ill') answers = false;
}).listen(Number(process.env.PORT), '127.0.0.1');
`;

let folder: string;
let entry: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-kept-service-'));
  entry = join(folder, 'agent.mjs');
  await writeFile(entry, AGENT);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let service: SupervisedService;
let launches: Child[];
let urls: (string | null)[];
let lines: string[];
function keep(behaviour: string): SupervisedService {
  launches = [];
  urls = [];
  lines = [];
  service = new SupervisedService({
    name: 'agent',
    findAddress: async () => ({ host: '127.0.0.1', port: await freePort('127.0.0.1') }),
    logger: silentLogger,
    onAddress: (address) => urls.push(address && urlOf(address)),
    launch: ({ port }) => {
      const child = new Child({
        entry,
        env: { PORT: String(port) },
        hasGrace: behaviour === 'graceful',
      }).begin({ secrets: { behaviour }, onLine: (line) => lines.push(line) });
      launches.push(child);
      return child;
    },
    timings: { firstBackoffMs: 5, livenessEveryMs: 50, livenessFailures: 2 },
  });
  return service;
}
afterEach(() => service.stop(0));

const isAlive = (child: Child) => child.exit === undefined;

describe('a supervised service', () => {
  it('starts, reports its URL, and ends when it is stopped', async () => {
    await keep('well').start(AbortSignal.timeout(HANGS_AFTER_MS));
    expect(urls).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)]);
    await service.stop(5_000);
    expect(launches.map(isAlive)).toEqual([false]);
    expect(urls.at(-1)).toBeNull();
  });

  it('that ends during its start reports how', async () => {
    await expect(keep('ends').start(AbortSignal.timeout(HANGS_AFTER_MS))).rejects.toThrow('agent ended with code 4');
    expect(launches).toHaveLength(1);
  });

  it('that is not healthy in time reports what it answered last, and ends', async () => {
    const limit = new AbortController();
    const starting = keep('ill').start(limit.signal);
    starting.catch(() => undefined);
    await waitFor(() => lines.length > 0, { what: 'a check without an answer' });
    limit.abort();
    await expect(starting).rejects.toThrow('agent was not healthy in time: it answers 503');
    expect(launches.filter(isAlive)).toEqual([]);
  });

  it('that is stopped during its start leaves no process', async () => {
    const starting = keep('ends').start(AbortSignal.timeout(HANGS_AFTER_MS));
    starting.catch(() => undefined);
    await service.stop(0);
    await expect(starting).rejects.toThrow();
    expect(launches.filter(isAlive)).toEqual([]);
  });

  it('is restarted after a crash, on another port', async () => {
    await keep('well').start(AbortSignal.timeout(HANGS_AFTER_MS));
    launches[0]!.kill();
    await waitFor(() => urls.length === 3);
    expect(urls[1]).toBeNull();
    expect(urls[2]).not.toBe(urls[0]);
    expect(launches.map(isAlive)).toEqual([false, true]);
  });

  it('that is unresponsive is ended and restarted', async () => {
    await keep('well').start(AbortSignal.timeout(HANGS_AFTER_MS));
    void fetch(`${urls[0]}/hang`).catch(() => undefined);
    await waitFor(() => urls.length === 3);
    expect(isAlive(launches[0]!)).toBe(false);
  });

  it('that ignores SIGTERM is ended by force', async () => {
    await keep('deaf').start(AbortSignal.timeout(HANGS_AFTER_MS));
    await service.stop(50);
    expect(launches[0]!.exit).toMatchObject({ signal: 'SIGKILL' });
  });

  it('that has a grace is told when that is over, before it is ended by force', async () => {
    await keep('graceful').start(AbortSignal.timeout(HANGS_AFTER_MS));
    await service.stop(3_100);
    expect(launches[0]!.exit).toMatchObject({ code: 0, signal: null });
  });
});
