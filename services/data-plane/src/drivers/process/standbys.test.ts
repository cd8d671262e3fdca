import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Child } from './child.ts';
import { Standbys } from './standbys.ts';

let folder: string;
let entry: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'standbys-'));
  entry = join(folder, 'entry.mjs');
  // Says what it got, and ends without an error when it got nothing.
  await writeFile(entry, "import { readFileSync } from 'node:fs';\nconsole.log(readFileSync(3, 'utf8'));\n");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function standbys(idleMs?: number) {
  const children: Child[] = [];
  const start = () => {
    const child = new Child({ entry, env: {} });
    children.push(child);
    return child;
  };
  return { waiting: new Standbys(start, idleMs), children };
}

it('a process that waits is one for each deployment, and begins with what it is given', async () => {
  const { waiting, children } = standbys();
  for (const id of ['one', 'one', 'two']) waiting.keep(id);
  expect(children).toHaveLength(2);
  const lines: string[] = [];
  const child = waiting.take('one');
  expect(child).toBe(children[0]);
  expect(waiting.take('one')).toBeUndefined();
  child!.begin({ secrets: { a: 'b' }, onLine: (line) => lines.push(line) });
  expect(await child!.exited).toEqual({ code: 0, signal: null });
  expect(lines).toEqual(['{"a":"b"}']);
  waiting.end('two');
  expect((await children[1]!.exited).signal).toBe('SIGKILL');
});

it('a process that cannot be started, and one too many, are left to those who need them', () => {
  const none = new Standbys(() => {
    throw new Error('no room');
  });
  none.keep('one');
  expect(none.take('one')).toBeUndefined();
  const { waiting, children } = standbys();
  const ids = ['a', 'b', 'c', 'd', 'e'];
  for (const id of ids) waiting.keep(id);
  expect(children).toHaveLength(4);
  for (const id of ids) waiting.end(id);
});

it('a process that nobody needs ends after a while, and one that has ended is not given out', async () => {
  const idle = standbys(1);
  idle.waiting.keep('one');
  expect((await idle.children[0]!.exited).signal).toBe('SIGKILL');
  expect(idle.waiting.take('one')).toBeUndefined();
  const { waiting, children } = standbys();
  waiting.keep('one');
  children[0]!.kill();
  await children[0]!.exited;
  expect(waiting.take('one')).toBeUndefined();
});
