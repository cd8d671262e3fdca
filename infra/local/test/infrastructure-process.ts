import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundledEntry } from '@runyard/test-kit';
import { isAlive, type ProcessIdentity } from '../src/supervision/process-identity.ts';

/** Infrastructure that another process holds, so that a test can kill that one. */
export interface InfrastructureProcess {
  child: ChildProcess;
  /** Returns the servers' processes as recorded in the data folder. */
  servers(): Promise<(ProcessIdentity & { name: string })[]>;
}

export async function startInfrastructureProcess(dataDir: string, names: string[]): Promise<InfrastructureProcess> {
  const entry = await bundledEntry(join(import.meta.dirname, 'hold.ts'));
  const child = spawn(process.execPath, [entry, dataDir, ...names], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    output += chunk;
    if (output.includes('holding\n')) break;
  }
  if (!output.includes('holding\n')) throw new Error(`the holder ended: ${output}`);
  return {
    child,
    servers: async () => JSON.parse(await readFile(join(dataDir, 'processes.json'), 'utf8')),
  };
}

export async function waitForEnd(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

export async function isNoneRunning(processes: ProcessIdentity[]): Promise<boolean> {
  const alive = await Promise.all(processes.map(isAlive));
  return !alive.includes(true);
}
