import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BuildError } from '@runyard/deployments';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBuildCommand } from './build-command.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-command-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function run(command: string, options: { signal?: AbortSignal; onLine?: (line: string) => void } = {}): Promise<void> {
  return runBuildCommand({
    limits: { fileBytes: 1_000_000_000, processes: null },
    command,
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    onLine: options.onLine ?? (() => undefined),
    signal: options.signal ?? new AbortController().signal,
  });
}

describe('a command of a build', () => {
  it('passes its output on line by line, and its failure has the exit code', async () => {
    const lines: string[] = [];
    await expect(run('echo one; echo two >&2; exit 3', { onLine: (line) => lines.push(line) })).rejects.toThrow(
      BuildError,
    );
    expect(lines.sort()).toEqual(['one', 'two']);
  });

  it('that prints without a line feed is never held in memory as a whole', async () => {
    const lengths: number[] = [];
    await run('head -c 1000000 /dev/zero | tr "\\0" x', { onLine: (line) => lengths.push(line.length) });
    expect(lengths.length).toBeGreaterThan(10);
    expect(Math.max(...lengths)).toBeLessThan(20_000);
  });

  // Starts a daemon outside of the process group that keeps the output pipe open, as some tools do.
  const LEAVES_ONE = `node -e "require('child_process').spawn('sleep', ['60'], { detached: true, stdio: 'inherit' }).unref()"`;

  it('ends with its own process, even if another process holds its output open', async () => {
    await run(`echo begun; ${LEAVES_ONE}`);
  });

  it('ends when it is interrupted, even if another process holds its output open', async () => {
    const interruption = new AbortController();
    const running = run(`${LEAVES_ONE}; echo left; sleep 60`, {
      signal: interruption.signal,
      onLine: () => interruption.abort(new Error('interrupted')),
    });
    await expect(running).rejects.toThrow('interrupted');
  });
});
