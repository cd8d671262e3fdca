import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, openSupervisor, type Supervisor } from '@runyard/local-infra';
import { waitFor } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceProcess } from '../src/services/service-process.ts';
import { superviseService } from '../src/services/supervised-service.ts';

const work = mkdtempSync(join(tmpdir(), 'runyard-kept-service-'));
const lines: string[] = [];
const report = (line: string) => void lines.push(line);
const progress = { step: report, done: report, say: () => {} };
let supervisor: Supervisor;
let service: ServiceProcess | undefined;

/** A bundle that answers with its secret and process id; ends at once when it finds a file named `broken` beside it. */
const bundle = `
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const { secret } = JSON.parse(readFileSync(3, 'utf8'));
if (existsSync('broken')) process.exit(7);
process.on('SIGUSR2', () => process.exit(0));
createServer((_, res) => res.end(JSON.stringify({ secret, pid: process.pid }))).listen(Number(process.env.PORT), '127.0.0.1');
`;

beforeAll(async () => {
  mkdirSync(join(work, 'services/gateway/dist'), { recursive: true });
  writeFileSync(join(work, 'services/gateway/package.json'), '{"type":"module"}');
  writeFileSync(join(work, 'services/gateway/dist/main.js'), bundle);
  mkdirSync(join(work, 'logs'));
  supervisor = await openSupervisor(join(work, 'data'));
});
afterEach(async () => {
  await service?.stop();
  rmSync(join(work, 'services/gateway/broken'), { force: true });
  lines.length = 0;
});
afterAll(async () => {
  await supervisor.close();
  rmSync(work, { recursive: true, force: true });
});

async function startGateway(
  untilNeeded?: (signal: AbortSignal) => Promise<void>,
): Promise<{ kept: ServiceProcess; url: string }> {
  const port = await freePort();
  const settings = {
    name: 'gateway',
    folder: 'services/gateway',
    services: [{ name: 'gateway', healthUrl: `http://127.0.0.1:${port}/ok?check_db=1` }],
    env: { PORT: String(port) },
    secrets: { secret: 'told over the pipe' },
    stopMs: 3_000,
  };
  const kept = await superviseService({
    ...settings,
    supervisor,
    repository: work,
    logDir: join(work, 'logs'),
    compiledDir: join(work, 'compiled'),
    progress,
    untilNeeded,
  });
  service = kept;
  return { kept, url: `http://127.0.0.1:${port}` };
}

const answer = async (url: string): Promise<unknown> =>
  fetch(url).then(
    (response) => response.json(),
    () => undefined,
  );

describe('a service that ends unasked', () => {
  it('is restarted on its port with its secrets, and a line reports that', async () => {
    const { kept, url } = await startGateway();
    const first = kept.pid as number;
    process.kill(first, 'SIGKILL');
    await waitFor(async () => kept.pid !== undefined && kept.pid !== first);
    expect(await answer(url)).toEqual({ secret: 'told over the pipe', pid: kept.pid });
    expect(lines).toEqual([
      expect.stringMatching(/^gateway ended \(SIGKILL; see .*gateway\.log\) and is started again in 250 ms$/),
      'gateway is back',
    ]);
  });

  it('is given up when it ends again and again, with the end of its log', async () => {
    const { kept } = await startGateway();
    writeFileSync(join(work, 'services/gateway/broken'), '');
    process.kill(kept.pid as number, 'SIGKILL');
    await expect(kept.unexpectedEnd).rejects.toThrow(
      /^gateway ended 6 times in a row\. gateway ended \(7\); the end of /,
    );
    expect(lines).toHaveLength(5);
  });

  it('is not restarted during a stop, also when the stop comes before the next start', async () => {
    const { kept, url } = await startGateway();
    process.kill(kept.pid as number, 'SIGKILL');
    await waitFor(async () => lines.length === 1);
    await kept.stop();
    expect(kept.pid).toBeUndefined();
    expect(await answer(url)).toBeUndefined();
  });
});

describe('a service that ends by itself when it has nothing to do', () => {
  let need: () => void;
  const untilNeeded = () => new Promise<void>((resolve) => (need = resolve));

  it('is started when it is needed, and again after it has ended, and nothing is reported', async () => {
    const { kept, url } = await startGateway(untilNeeded);
    expect([kept.pid, await answer(url)]).toEqual([undefined, undefined]);
    need();
    await waitFor(() => kept.pid !== undefined);
    const first = kept.pid as number;
    process.kill(first, 'SIGUSR2');
    await waitFor(() => kept.pid === undefined);
    expect(await answer(url)).toBeUndefined();
    need();
    await waitFor(() => kept.pid !== undefined);
    expect(await answer(url)).toEqual({ secret: 'told over the pipe', pid: kept.pid });
    expect(kept.pid).not.toBe(first);
    expect(lines).toEqual([]);
  });

  it('is not waited for at a stop', async () => {
    const { kept } = await startGateway(
      (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    );
    await kept.stop();
    expect(kept.pid).toBeUndefined();
  });

  it('and fails is started again at once, as any other', async () => {
    const { kept } = await startGateway(untilNeeded);
    need();
    await waitFor(() => kept.pid !== undefined);
    const first = kept.pid as number;
    process.kill(first, 'SIGKILL');
    await waitFor(() => kept.pid !== undefined && kept.pid !== first);
    expect(lines).toHaveLength(2);
  });
});
