import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chown, link as linkFile, lstat, mkdtemp, rename, rm, stat, symlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SocketFolder } from './socket-folder.ts';

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Makes a folder as a killed process leaves it: with the socket that it listened on. */
async function deserted(named: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'socket-folder-'));
  const listening = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  const [, signal] = await once(spawn(process.execPath, ['-e', listening, join(folder, 'owner')]), 'exit');
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

const USER = { uid: 100_500, gid: 100_500 };

describe.runIf(process.getuid?.() === 0)('where the code of a project runs as another user,', () => {
  async function opened() {
    const folder = await SocketFolder.open(USER);
    onTestFinished(() => folder.remove());
    return folder;
  }
  const ownerOf = async (path: string) => {
    const { uid, gid, mode } = await lstat(path);
    return { uid, gid, mode: mode & 0o777 };
  };

  it('the folder stays that of this process, and the home in it is that user’s', async () => {
    const folder = await opened();
    expect(await ownerOf(dirname(folder.newPath()))).toEqual({ uid: 0, gid: USER.gid, mode: 0o710 });
    const { HOME, TMPDIR } = folder.withHome({});
    expect(TMPDIR).toBe(HOME);
    expect(dirname(HOME as string)).toBe(dirname(folder.newPath()));
    expect(await ownerOf(HOME as string)).toEqual({ ...USER, mode: 0o700 });
    expect(dirname(folder.pathForHost())).toBe(HOME);
  });

  it('that user, and no other, connects to a socket of this process', async () => {
    const folder = await opened();
    const path = folder.newPath();
    const server = createServer((socket) => socket.end()).listen(path);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    await folder.grantAccess(path);
    const connect = `require('node:net').connect(process.argv[1]).on('connect', () => process.exit(0))`;
    const codeOf = async (user: typeof USER) =>
      (await once(spawn(process.execPath, ['-e', connect, path], { ...user, cwd: '/' }), 'exit'))[0];
    expect(await codeOf(USER)).toBe(0);
    expect(await codeOf({ uid: 100_501, gid: 100_501 })).toBe(1);
  });

  it('the socket of an app is used out of the reach of that user, and a link in its place is not followed', async () => {
    const folder = await opened();
    const elsewhere = join(dirname(folder.newPath()), 'other');
    const server = createServer((socket) => socket.end()).listen(elsewhere);
    onTestFinished(() => void server.close());
    await once(server, 'listening');

    const link = folder.pathForHost();
    await symlink(elsewhere, link);
    await expect(folder.takeFromHost(link)).rejects.toThrow('something else in the place of the socket');
    const ofRoot = folder.pathForHost();
    await linkFile(elsewhere, ofRoot);
    await expect(folder.takeFromHost(ofRoot)).rejects.toThrow('something else in the place of the socket');
    expect(await isThere(elsewhere)).toBe(true);

    const own = folder.pathForHost();
    const listen = `require('node:net').createServer((s) => s.end('hello')).listen(process.argv[1], () => console.log())`;
    const app = spawn(process.execPath, ['-e', listen, own], { ...USER, cwd: '/' });
    onTestFinished(() => void app.kill());
    await once(app.stdout, 'data');
    const taken = await folder.takeFromHost(own);
    expect(dirname(taken)).toBe(dirname(elsewhere));
    expect(await text(connect(taken))).toBe('hello');
  });

  it('a folder that another user has made is left alone, whatever is in it', async () => {
    const own = await opened();
    const made = await mkdtemp(join(tmpdir(), 'socket-folder-'));
    const path = dirname(own.newPath()).slice(0, -6) + made.slice(-6);
    await rename(made, path);
    onTestFinished(() => rm(path, { recursive: true }));
    await chown(path, USER.uid, USER.gid);
    await opened();
    expect(await isThere(path)).toBe(true);
  });
});
