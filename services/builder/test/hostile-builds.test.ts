import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuildEnd, BuildOrder } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Builder } from '../src/build/builder.ts';
import { openBuildUsers } from '../src/commands/build-users.ts';
import type { ProjectSources } from '../src/fetch/project-sources.ts';
import { BuildLog } from '../src/jobs/build-log.ts';
import type { ProjectResults } from '../src/results/project-results.ts';

const MEBIBYTE = 1024 * 1024;
const LIMITS = { memoryBytes: 256 * MEBIBYTE, processes: 40, diskBytes: 24 * MEBIBYTE };
const SECRET = 'secret-of-the-builder';

let dataDir: string;
let builder: Builder;
beforeAll(async () => {
  process.env.RUNYARD_TEST_SECRET = SECRET;
  dataDir = await mkdtemp(join(tmpdir(), 'runyard-hostile-'));
  await chmod(dataDir, 0o711);
  const fetch = async (_: unknown, folder: string) => {
    await writeFile(join(folder, 'langgraph.json'), JSON.stringify({ graphs: { agent: './agent.mjs:graph' } }));
    await writeFile(join(folder, 'agent.mjs'), 'throw new Error("it is not loaded");');
  };
  builder = new Builder({
    dataDir,
    users: await openBuildUsers('100000-999999999', dataDir),
    pythons: [],
    minFreeBytes: 0,
    limits: LIMITS,
    sources: { fetch } as unknown as ProjectSources,
    results: { check: () => undefined, send: async () => ({ kind: 'archive' }) } as unknown as ProjectResults,
  });
});
afterAll(async () => {
  delete process.env.RUNYARD_TEST_SECRET;
  await rm(dataDir, { recursive: true, force: true });
});

/** Builds a project with this install command, and returns why it failed and what it printed. */
async function build(installCommand: string): Promise<{ reason: string; said: string }> {
  const log = new BuildLog([]);
  const order: BuildOrder = {
    deployment_id: randomUUID(),
    revision_id: randomUUID(),
    source: { kind: 'archive', url: '/' },
    langgraph_config_path: 'langgraph.json',
    install_command: installCommand,
    build_command: null,
    variables: { MODEL_KEY: 'secret-of-the-deployment' },
    timeout_seconds: 60,
    result: { kind: 'archive', url: '/', bytes_max: 1 },
    report_url: '/',
    end_url: '/',
  };
  const signal = AbortSignal.timeout(60_000);
  const ended = builder.build(order, { log, signal, onCommit: () => undefined });
  const reason = await ended.then(
    (end: BuildEnd) => end.kind,
    (error: Error) => error.message,
  );
  return {
    reason,
    said: log
      .recent(40)
      .map(({ message }) => message)
      .join('\n'),
  };
}

// Only root may start processes as another user.
describe.runIf(process.geteuid?.() === 0)('a build', () => {
  it('finds no secret in its environment, nor in that of any process', async () => {
    const look = `for process in /proc/[0-9]*; do cat $process/environ 2>/dev/null; done | tr '\\0' '\\n' > found; wc -l < found; grep secret- found; true`;
    const { said } = await build(look);
    expect(said).toMatch(/^\d+$/m);
    expect(said).not.toContain(SECRET);
    expect(said).not.toContain('secret-of-the-deployment');
  });

  it('that starts processes without end is ended, and so are they', async () => {
    const { reason, said } = await build('while :; do sleep 613 & done');
    expect(`${reason}\n${said}`).toMatch(/more than 40 processes at once|[Cc]annot fork/);
    const commands = await Promise.all(
      (await readdir('/proc')).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    expect(commands.filter((command) => command.startsWith('sleep\x313'))).toEqual([]);
  });

  it('that takes more memory than it may is ended with that reason', async () => {
    const allocate = `node -e "const all = []; setInterval(() => all.push(Buffer.alloc(20e6, 1)), 20)"`;
    expect((await build(allocate)).reason).toBe(`The build needs more than ${LIMITS.memoryBytes} bytes of memory`);
  });

  it('that fills the disk is ended with that reason, with many files or a large one', async () => {
    const many = 'i=0; while :; do i=$((i + 1)); head -c 1048576 /dev/zero > file-$i; sleep 0.02; done';
    expect((await build(many)).reason).toBe(`The build has more than ${LIMITS.diskBytes} bytes on the disk`);
    expect((await build('head -c 100000000 /dev/zero > large')).reason).toMatch(/ended (with code|by)/);
  });

  it('writes nowhere but in its own folders, and leaves nothing there', async () => {
    const outside = join(dataDir, 'git', 'written');
    const { said } = await build(
      `echo a > ${outside}; echo b > ${join(dataDir, 'written')}; ls ${join(dataDir, 'projects')}`,
    );
    expect(said.match(/Permission denied/g)).toHaveLength(3);
    expect([existsSync(outside), existsSync(join(dataDir, 'written'))]).toEqual([false, false]);
    expect(await readdir(join(dataDir, 'projects'))).toEqual([]);
    expect(await readdir(join(dataDir, 'builds'))).toEqual([]);
  });
});
