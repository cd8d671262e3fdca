// An install script of strangers. It tries what a build must not do, tells what came of it, and leaves what it can.
import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';

/** Paths to read; `host port` to connect to; files to write; the seconds that a process sleeps, by which it is known. */
const { paths, addresses, leftovers, sleepSeconds } = JSON.parse(await readFile('target.json', 'utf8'));

const CONNECT_MS = 3_000;

/** Returns what a file or folder says, or the code of the error. */
const read = (path) =>
  readFile(path, 'latin1').catch((error) =>
    error.code === 'EISDIR' ? readdir(path).then(String, ({ code }) => code) : error.code,
  );

const canConnect = (address) =>
  new Promise((resolve) => {
    const [host, port] = address.split(' ');
    const socket = connect({ host, port: Number(port), timeout: CONNECT_MS });
    const end = (outcome) => resolve(outcome) ?? socket.destroy();
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });

const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
const environments = await Promise.all(processes.map((pid) => read(`/proc/${pid}/environ`)));
const outcome = {
  paths: Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)]))),
  /** Names of the variables of all processes whose environment it can read. */
  variables: [...new Set(environments.flatMap((text) => text.match(/(?<=^|\0)\w+(?==)/g) ?? []))],
  addresses: Object.fromEntries(
    await Promise.all(addresses.map(async (address) => [address, await canConnect(address)])),
  ),
  left: await Promise.all(
    leftovers.map((file) =>
      writeFile(file, 'left').then(
        () => file,
        ({ code }) => code,
      ),
    ),
  ),
};
spawn('sleep', [String(sleepSeconds)], { detached: true, stdio: 'ignore' }).unref();
console.log(`OUTCOME ${JSON.stringify(outcome)}`);
process.exit(1);
