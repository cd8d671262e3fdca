import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { bundledEntry, waitFor } from '@runyard/test-kit';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

let entry: string;
beforeAll(async () => {
  entry = await bundledEntry(fileURLToPath(new URL('./sample-service.ts', import.meta.url)));
});

describe('a service process', () => {
  let child: ChildProcess;
  let output: string;
  let exited: Promise<[code: number | null, signal: string | null]>;

  function start(
    behaviour: string,
    secrets: Record<string, unknown> | null = { SAMPLE_SECRET: 'of-13-letters' },
    { overOnePipe = false } = {},
  ): void {
    output = '';
    const parentFd = overOnePipe ? '3' : '4';
    child = spawn(process.execPath, [entry], {
      env: {
        PATH: process.env.PATH,
        SAMPLE_BEHAVIOUR: behaviour,
        ...(secrets && { RUNYARD_SECRETS_FD: '3' }),
        RUNYARD_PARENT_FD: parentFd,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    exited = once(child, 'exit') as typeof exited;
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    const pipe = child.stdio[3] as Writable;
    pipe.on('error', () => {}); // A process without secrets closes the pipe unread.
    if (overOnePipe) pipe.write(`${JSON.stringify(secrets)}\n`);
    else pipe.end(JSON.stringify(secrets ?? {}));
  }
  const up = () => waitFor(() => output.includes('sample: up'));

  afterEach(() => {
    child.kill('SIGKILL');
  });

  it('reads secrets from an inherited pipe and logs none of them', async () => {
    start('well');
    await up();
    expect(output).toContain('"secretLength":13');
    expect(output).not.toContain('of-13-letters');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(output).toContain('part closed');
  });

  it('with a grace ends that at a second signal, and closes its parts', async () => {
    start('graceful');
    await up();
    child.kill('SIGTERM');
    await waitFor(() => output.includes('sample: stopping'));
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(output).toContain('part closed');
  });

  it('without a grace ends at once at a second signal', async () => {
    start('stuck');
    await up();
    child.kill('SIGTERM');
    await waitFor(() => output.includes('sample: stopping'));
    child.kill('SIGTERM');
    expect(await exited).toEqual([1, null]);
    expect(output).not.toContain('part closed');
  });

  it('stops when the parent process has exited', async () => {
    start('well');
    await up();
    (child.stdio[4] as Writable).destroy();
    expect(await exited).toEqual([0, null]);
    expect(output).toContain('part closed');
  });

  it('learns its secrets and the end of its parent over one pipe, as in a container', async () => {
    start('well', undefined, { overOnePipe: true });
    await up();
    expect(output).toContain('"secretLength":13');
    (child.stdio[3] as Writable).destroy();
    expect(await exited).toEqual([0, null]);
  });

  it('ends at once at the second signal', async () => {
    start('stuck');
    await up();
    child.kill('SIGINT');
    await waitFor(() => output.includes('stopping'));
    child.kill('SIGINT');
    expect(await exited).toEqual([1, null]);
  });

  it.each(['rejects', 'throws'])('stops with code 1 when a part %s and nobody catches it', async (behaviour) => {
    start(behaviour);
    expect(await exited).toEqual([1, null]);
    expect(output).toContain('nobody catches this');
    expect(output).toContain('part closed');
  });

  it('stops with code 1 when it cannot start, and closes its open parts', async () => {
    start('fails to start');
    expect(await exited).toEqual([1, null]);
    expect(output).toContain('nothing to listen on');
    expect(output).toContain('part closed');
  });

  it('ends with code 78 when the configuration is wrong', async () => {
    start('well', null);
    expect(await exited).toEqual([78, null]);
    expect(output).toContain('sample: SAMPLE_SECRET is required.');
  });
});
