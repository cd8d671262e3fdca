import { fileURLToPath } from 'node:url';
import { freePort, startServiceProcess, type TestServiceProcess, waitFor } from '@runyard/test-kit';
import { afterEach, describe, expect, it } from 'vitest';

const entry = fileURLToPath(new URL('./sample-services.ts', import.meta.url));

describe('two services in one process', () => {
  let running: TestServiceProcess;
  let urls: { first: string; second: string };

  async function start(second: Record<string, string> = {}, only?: 'first', first = {}): Promise<void> {
    const ports = { first: await freePort(), second: await freePort() };
    urls = { first: `http://127.0.0.1:${ports.first}`, second: `http://127.0.0.1:${ports.second}` };
    const variables = {
      first: { PORT: String(ports.first), SAMPLE_SECRET: 'secret-of-first', ...first },
      second: { PORT: String(ports.second), SAMPLE_SECRET: 'of-second', ...second },
    };
    const secrets = Object.entries(variables).filter(([name]) => only === undefined || name === only);
    running = await startServiceProcess({
      entry,
      secrets: {
        ...Object.fromEntries(secrets.map(([name, given]) => [name, JSON.stringify(given)])),
        process: JSON.stringify({ SAMPLE_SETTING: 'of-both' }),
      },
      readyPath: null,
    });
  }
  const areUp = () => waitFor(() => ['first', 'second'].every((name) => running.output().includes(`${name}: up`)));

  afterEach(async () => {
    await running.stop({ signal: 'SIGKILL' });
  });

  it('have variables, logs, ports and metrics of their own', async () => {
    await start();
    await areUp();
    expect(running.output()).toContain('first: up {"secretLength":15,"setting":"of-both"}');
    expect(running.output()).toContain('second: up {"secretLength":9,"setting":"of-both"}');
    for (const [name, other] of [
      ['first', 'second'],
      ['second', 'first'],
    ] as const) {
      const text = await (await fetch(`${urls[name]}/metrics`)).text();
      expect(text).toContain(`sample_${name}_total 1`);
      expect(text).not.toContain(`sample_${other}_total`);
      // The figures of the process are those of each.
      expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    }
  });

  it('both close their parts at a signal, and the process ends with 0', async () => {
    await start();
    await areUp();
    expect(await running.stop()).toEqual({ code: 0, signal: null });
    for (const name of ['first', 'second']) {
      expect(running.output()).toContain(`${name}: stopping {"reason":"SIGTERM"}`);
      expect(running.output()).toContain(`${name}: part closed`);
    }
  });

  it('one that crashes keeps no grace of the other: its clients wait for the next process', async () => {
    await start({ SAMPLE_BEHAVIOUR: 'has a grace' }, undefined, { SAMPLE_BEHAVIOUR: 'throws' });
    expect(await running.exited).toEqual({ code: 1, signal: null });
    expect(running.output()).toContain('second: part closed');
  });

  it('one that the other needs until its end stops after it', async () => {
    await start();
    await areUp();
    await running.stop();
    const lines = running.output();
    expect(lines.indexOf('second: stopped')).toBeGreaterThan(0);
    expect(lines.indexOf('first: stopping')).toBeGreaterThan(lines.indexOf('second: stopped'));
  });

  it('end when one of them cannot start, which is named', async () => {
    await start({ SAMPLE_BEHAVIOUR: 'fails to start' });
    expect(await running.exited).toEqual({ code: 1, signal: null });
    expect(running.output()).toMatch(/second: start failed[\s\S]*nothing to listen on/);
    expect(running.output()).not.toContain('first: start failed');
    expect(running.output()).toContain('first: stopping {"reason":"second stops"}');
    expect(running.output()).toContain('first: part closed');
  });

  it.each([
    ['rejects', 'second: unhandled rejection'],
    ['throws', 'second: uncaught exception'],
  ])('end with 1 when a part of one %s and nobody catches it, and the log names the one', async (behaviour, line) => {
    await start({ SAMPLE_BEHAVIOUR: behaviour });
    expect(await running.exited).toEqual({ code: 1, signal: null });
    expect(running.output()).toContain(line);
    expect(running.output()).not.toMatch(/first: (unhandled|uncaught)/);
    expect(running.output()).toContain('first: stopping {"reason":"second stops"}');
  });

  it('end with 0 when a part of one asks to stop', async () => {
    await start({ SAMPLE_BEHAVIOUR: 'asks to stop' });
    expect(await running.exited).toEqual({ code: 0, signal: null });
    expect(running.output()).toContain('second: stopping {"reason":"it has had enough"}');
    expect(running.output()).toContain('first: stopping {"reason":"second stops"}');
  });

  it('end with 78 when variables of one are wrong or not given, which is named', async () => {
    await start({ SAMPLE_SECRET: '' });
    expect(await running.exited).toEqual({ code: 78, signal: null });
    expect(running.output()).toBe('second: SAMPLE_SECRET is required.\n');
    await start({}, 'first');
    expect(await running.exited).toEqual({ code: 78, signal: null });
    expect(running.output()).toContain('second: RUNYARD_SECRETS_FD must carry its variables under "second".');
  });
});
