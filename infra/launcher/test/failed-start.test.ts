import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledEntry, waitFor } from '@runyard/test-kit';
import { afterAll, expect, it } from 'vitest';

const work = mkdtempSync(join(tmpdir(), 'runyard-failed-start-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** A process that ended and was not waited for yet has no program. */
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

it('a start that fails while packages are installed leaves no package manager running, nor what it started', async () => {
  const pidFile = join(work, 'pid');
  const project = join(work, 'project');
  mkdirSync(project);
  const files = {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': 'export const graph = {};',
    'package.json': JSON.stringify({ dependencies: { missing: '1.0.0' } }),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(project, name), content);
  // A package manager that ends by no signal but the one that nothing survives, with a process of its own.
  const npm = `#!/bin/sh
    trap '' TERM
    sleep 1000000 & echo "$$ $!" > ${pidFile}.new
    mv ${pidFile}.new ${pidFile}
    wait`;
  writeFileSync(join(work, 'npm'), npm, { mode: 0o755 });
  // A server that hangs up on whoever asks, once the installation is under way.
  const postgres = createServer((socket) => {
    socket.on('error', () => {});
    void waitFor(() => existsSync(pidFile), { what: 'the installation' }).finally(() => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(postgres, 'listening');
  const { port } = postgres.address() as AddressInfo;
  const entry = await bundledEntry(join(import.meta.dirname, '../src/main.ts'));
  const child = spawn(
    process.execPath,
    [entry, '--project', project, '--port', '0', '--data-dir', join(work, 'data')],
    {
      cwd: work,
      env: {
        PATH: `${work}:${process.env.PATH}`,
        HOME: process.env.HOME,
        RUNYARD_POSTGRES_URL: `postgres://somebody:secret@127.0.0.1:${port}/postgres`,
        RUNYARD_REDIS_URL: 'redis://127.0.0.1:1',
        RUNYARD_KAFKA_BROKERS: '127.0.0.1:1',
        RUNYARD_PROJECT_USERS: 'off',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const [code] = await once(child, 'close');
  postgres.close();
  expect(errors).toContain('RUNYARD_POSTGRES_URL');
  expect(code).toBe(1);
  const pids = readFileSync(pidFile, 'utf8').trim().split(' ');
  expect(pids).toHaveLength(2);
  expect(pids.filter((pid) => isAlive(Number(pid)))).toEqual([]);
});
