import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type BenchServers, openServers } from './servers.ts';

export interface Session {
  servers: BenchServers;
  close(): Promise<void>;
}

/** Opens the servers for all goals of one command, with a temporary data folder. */
export async function openSession(): Promise<Session> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-faults-'));
  const servers = await openServers(folder);
  await servers.heal();
  // The tools of the test kit create their databases there.
  process.env.RUNYARD_TEST_POSTGRES_URL = servers.postgres.address.adminUrl;
  return {
    servers,
    async close() {
      await servers.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the commit under test. */
export function readCommitUnderTest(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  try {
    return (
      git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? ' and changes' : '')
    );
  } catch {
    return 'unknown';
  }
}
