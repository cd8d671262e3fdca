import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1Container } from '@kubernetes/client-node';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prepareContainer, SECRETS_KEY, secretsContainer, serviceCommand } from './secret-handover.ts';

const LINE = '{"DATABASE_URI":"postgres://secret"}\n';
/** Reads its input to the end and keeps running. */
const AGENT = '#!/bin/sh\ncat; exec sleep 1000\n';

let folder: string;
const started: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-handover-'));
  for (const name of ['handover', 'secrets', 'commands']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'secrets', SECRETS_KEY), LINE);
  await writeFile(join(folder, 'commands/runyard-agent'), AGENT, { mode: 0o755 });
  await ended(run(prepareContainer({})));
});
afterEach(async () => {
  for (const child of started.splice(0)) end(child);
  await rm(folder, { recursive: true });
});

/** Runs a container as processes of this machine, with folders as its volumes. */
function run({ command }: Pick<V1Container, 'command'>): ChildProcess {
  const [program, ...args] = command!.map((word) => word.replaceAll('/run/runyard', folder));
  const env = { PATH: `${join(folder, 'commands')}:${process.env.PATH}` };
  const child = spawn(program!, args, { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  started.push(child);
  return child;
}
const giver = () => run(secretsContainer({}));
const service = () => run(serviceCommand('agent-api'));

/** Ends all processes of the container. */
function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(-child.pid!, signal);
  } catch {
    // It has already ended.
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
}

async function given(child: ChildProcess): Promise<string> {
  const [text] = await once(child.stdout!.setEncoding('utf8'), 'data');
  return text;
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
const taken = () => isThere(join(folder, 'handover/taken'));
/** Returns whether the service has reached a step in which it waits for the giver. */
const waits = async (child: ChildProcess) =>
  (await isThere(`/proc/${child.pid}/fd/9`)) ||
  (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')) !== '';

it('a service that restarts at once gets its secrets, however late the giver notices the end', async () => {
  const giving = giver();
  const first = service();
  expect(await given(first)).toBe(LINE);
  end(giving, 'SIGSTOP');
  end(first);
  await ended(first);
  const second = service();
  await waitFor(() => waits(second), { what: 'the second service' });
  end(giving, 'SIGCONT');
  expect(await given(second)).toBe(LINE);
});

it('a service gets its secrets at every restart', async () => {
  giver();
  for (let times = 0; times < 8; times += 1) {
    const child = service();
    expect(await given(child)).toBe(LINE);
    end(child);
    await ended(child);
  }
});

it('a service that ended before it got the secrets leaves them to its successor', async () => {
  const first = service();
  await waitFor(() => waits(first), { what: 'the first service' });
  end(first);
  await ended(first);
  const second = service();
  giver();
  expect(await given(second)).toBe(LINE);
});

it('a service that ends while the secrets are being written leaves them to its successor', async () => {
  // The secrets come from a pipe of the test, so the giver stays in WRITE while the test writes nothing.
  const held = join(folder, 'secrets', SECRETS_KEY);
  await rm(held);
  execFileSync('mkfifo', [held]);
  giver();
  const first = service();
  await waitFor(taken, { what: 'the giver' });
  end(first);
  await ended(first);
  const second = service();
  let line = '';
  void given(second).then((text) => {
    line = text;
  });
  // The first read belongs to the attempt without a reader, which fails. So the line is offered again.
  const offer = async () => {
    const pipe = await open(held, constants.O_WRONLY | constants.O_NONBLOCK);
    await pipe.write(LINE).finally(() => pipe.close());
  };
  await waitFor(
    async () => {
      if (line === '') await offer().catch(() => undefined);
      return line !== '';
    },
    { what: 'the secrets with the second service' },
  );
  expect(line).toBe(LINE);
});

it('nobody else gets the secrets while the service runs, even from a giver that restarted', async () => {
  const giving = giver();
  const first = service();
  expect(await given(first)).toBe(LINE);
  const stranger = run({ command: ['/bin/sh', '-c', 'exec cat /run/runyard/handover/secrets'] });
  end(giving);
  await ended(giving);
  const again = giver();
  await waitFor(() => waits(again), { what: 'the second giver' });
  const got: string[] = [];
  stranger.stdout!.setEncoding('utf8').on('data', (text: string) => got.push(text));
  // The stranger ends with its container.
  end(stranger);
  end(first);
  await Promise.all([ended(stranger), ended(first)]);
  expect(await given(service())).toBe(LINE);
  expect(got).toEqual([]);
});
