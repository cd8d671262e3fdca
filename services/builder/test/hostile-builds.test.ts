import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LINK_PACKAGES } from '@runyard/test-kit/built-project';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT_USERS, TestBuilds } from './support/test-builds.ts';

const MEBIBYTE = 1024 * 1024;
const LIMITS = { memoryBytes: 256 * MEBIBYTE, processes: 40, disk: { bytes: 24 * MEBIBYTE, files: 2_000 } };
const SECRET = 'secret-of-the-builder';

let builds: TestBuilds;
beforeAll(async () => {
  process.env.RUNYARD_TEST_SECRET = SECRET;
  builds = await TestBuilds.start({ limits: LIMITS });
});
afterAll(async () => {
  delete process.env.RUNYARD_TEST_SECRET;
  await builds.close();
});

const FILES = {
  'langgraph.json': JSON.stringify({ graphs: { agent: './agent.mjs:graph' } }),
  'agent.mjs': 'throw new Error("it is not loaded");',
};

/** Builds a project with this install command, and returns why it failed and what it printed. */
async function build(installCommand: string, files = FILES): Promise<{ reason: string; said: string }> {
  const variables = { MODEL_KEY: 'secret-of-the-deployment' };
  const { reason, lines } = await builds.build({ files, installCommand, variables });
  return { reason, said: lines.join('\n') };
}

describe.runIf(PROJECT_USERS !== undefined)('a build', () => {
  it('finds no secret in its environment, nor in that of any process', async () => {
    const look = `for process in /proc/[0-9]*; do cat $process/environ 2>/dev/null; done | tr '\\0' '\\n' > found; wc -l < found; grep secret- found; true`;
    const { said } = await build(look);
    expect(said).toMatch(/^\d+$/m);
    expect(said).not.toContain(SECRET);
    // The log masks variables of the deployment.
    expect(said).not.toContain('***');
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
    const exceeded = `The build needs more than ${LIMITS.memoryBytes} bytes of memory`;
    expect((await build(allocate)).reason).toContain(exceeded);
    // The second one has neither a parent nor a group of the build.
    expect((await build(`(setsid ${allocate} &); sleep 600`)).reason).toContain(exceeded);
  });

  it('loads its graphs under the limits of its commands', async () => {
    const askLimits = "execSync('ulimit -p 2>/dev/null || ulimit -u; ulimit -f').toString().split('\\n').join(' ')";
    const agent = `import { execSync } from 'node:child_process'; throw new Error('limits ' + ${askLimits});`;
    const { reason } = await build(LINK_PACKAGES, { ...FILES, 'agent.mjs': agent });
    expect(reason).toContain(`limits ${LIMITS.processes} ${LIMITS.disk.bytes / 512}`);
  });

  it('that fills the disk is ended with that reason, with many files or a large one', async () => {
    const many = 'i=0; while :; do i=$((i + 1)); head -c 1048576 /dev/zero > file-$i; sleep 0.02; done';
    expect((await build(many)).reason).toContain(`The build has more than ${LIMITS.disk.bytes} bytes on the disk`);
    expect((await build('head -c 100000000 /dev/zero > large')).reason).toMatch(/ended (with code|by)/);
  });

  it('that makes files without end is ended with that reason', async () => {
    const { reason } = await build('i=0; while :; do i=$((i + 1)); : > file-$i; done');
    expect(reason).toContain(`The build has more than ${LIMITS.disk.files} files on the disk`);
  });

  it('writes nowhere but in its own folders, and leaves nothing there', async () => {
    const outside = join(builds.dataDir, 'git', 'written');
    const { said } = await build(
      `echo a > ${outside}; echo b > ${join(builds.dataDir, 'written')}; ls ${join(builds.dataDir, 'projects')}`,
    );
    expect(said.match(/Permission denied/g)).toHaveLength(3);
    expect([existsSync(outside), existsSync(join(builds.dataDir, 'written'))]).toEqual([false, false]);
    expect(await readdir(join(builds.dataDir, 'projects'))).toEqual([]);
    expect(await readdir(join(builds.dataDir, 'builds'))).toEqual([]);
  });

  it('leaves nothing in folders that everybody writes to, and no shared memory', async () => {
    const shared = ['/tmp', '/var/tmp', '/dev/shm'].filter((folder) => existsSync(folder));
    const places = shared.map((folder) => join(folder, `left-by-a-build-${process.pid}`));
    const write = places.map((place) => `mkdir -p ${place}/a && echo left > ${place}/a/b && chmod 000 ${place}/a`);
    const { said } = await build(`${write.join(' && ')} && ipcmk --shmem 4096 && id -u; exit 1`);
    const uid = said.match(/^\d+$/m)![0];
    expect(places.filter((place) => existsSync(place))).toEqual([]);
    expect(await readFile('/proc/sysvipc/shm', 'utf8')).not.toMatch(new RegExp(`\\b${uid}\\b`));
  });
});
