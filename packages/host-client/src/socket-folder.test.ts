import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rename, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { SocketFolder } from './socket-folder.ts';

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Makes a folder as a killed process leaves it: with the sockets it listened on. */
async function deserted(named: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'socket-folder-'));
  const listening = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  const [, signal] = await once(spawn(process.execPath, ['-e', listening, join(folder, 'socket')]), 'exit');
  expect(signal).toBe('SIGKILL');
  const path = named.slice(0, -6) + folder.slice(-6);
  await rename(folder, path);
  return path;
}

it('a process removes the folders of killed processes, and none of a live process', async () => {
  const living = await SocketFolder.open();
  const path = dirname(living.newPath());
  const left = await deserted(path);
  const next = await SocketFolder.open();
  expect(await isThere(left)).toBe(false);
  expect(await isThere(path)).toBe(true);
  await Promise.all([living.remove(), next.remove()]);
  expect(await isThere(path)).toBe(false);
});

it('only its user can enter a folder of sockets', async () => {
  const folder = await SocketFolder.open();
  const { mode } = await stat(dirname(folder.newPath()));
  expect(mode & 0o777).toBe(0o700);
  await folder.remove();
});
