import { appendFile, mkdtemp, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@runyard/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timeOfId } from './entry-ids.ts';
import { LogRetention } from './log-retention.ts';
import { logSegments } from './log-segments.ts';
import { type LogQuery, readLogs } from './read-logs.ts';
import { makeLogOpener, type OpenRevisionLog, type RevisionLog } from './revision-log.ts';

let folder: string;
let openLog: OpenRevisionLog;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-read-logs-'));
  openLog = makeLogOpener(folder, silentLogger);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let made = 0;
/** Makes a log for one test. */
function newLog(openWith = openLog) {
  made += 1;
  const owner = { deploymentId: 'd', revisionId: `r${made}`, kind: 'deploy' as const };
  const open = () => openWith(owner, { secrets: [] });
  const segments = () => logSegments.list(folder, owner);
  const read = async (query: Partial<LogQuery> = {}) =>
    readLogs(await segments(), { order: 'asc', limit: 1000, ...query });
  return { owner, open, segments, read };
}
const write = (log: RevisionLog, ...lines: string[]) => {
  for (const line of lines) log.write(line, { source: 'w' });
};
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => String(from + index));
const messages = ({ entries }: { entries: { message: string }[] }) => entries.map((entry) => entry.message);

describe('reading a log', () => {
  it('goes forwards and backwards, page by page, across files and blocks', async () => {
    const { open, read, segments } = newLog();
    for (const round of [0, 1, 2]) {
      const log = open();
      write(log, ...numbers(round * 1000, round * 1000 + 1000).map((text) => text.padEnd(300, '.')));
      await log.close();
    }
    expect(await segments()).toHaveLength(3);
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await read({ order, after, limit: 700 });
        seen.push(...messages(page));
        if (page.isEnd) break;
        after = page.lastId!;
      }
      const expected = numbers(0, 3000).map((text) => text.padEnd(300, '.'));
      expect(seen.length).toBe(3000);
      expect(seen.join() === (order === 'asc' ? expected : expected.reverse()).join()).toBe(true);
    }
  });

  it('merges the lines of several writers in one order, and names the revision of each', async () => {
    const [one, other] = [newLog(), newLog()];
    const logs = [one.open(), other.open(), one.open()];
    for (const text of numbers(0, 60)) {
      write(logs[Number(text) % 3]!, text);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await Promise.all(logs.map((log) => log.close()));
    const segments = [...(await one.segments()), ...(await other.segments())];
    const page = await readLogs(segments, { order: 'asc', limit: 1000 });
    expect(messages(page)).toEqual(numbers(0, 60));
    expect(page.entries.slice(0, 3).map((entry) => entry.revisionId)).toEqual([
      one.owner.revisionId,
      other.owner.revisionId,
      one.owner.revisionId,
    ]);
    expect(messages(await readLogs(segments, { order: 'desc', limit: 5 }))).toEqual(numbers(55, 60).reverse());
  });

  it('continues after an entry while lines are added, and after the entry was removed', async () => {
    const { open, read, segments } = newLog();
    const first = open();
    write(first, ...numbers(0, 10));
    await first.close();
    const page = await read({ limit: 4 });
    const second = open();
    write(second, ...numbers(10, 20));
    await second.close();
    expect(messages(await read({ after: page.lastId! }))).toEqual(numbers(4, 20));
    expect(messages(await read({ order: 'desc', after: page.lastId! }))).toEqual(numbers(0, 3).reverse());
    await unlink((await segments())[0]!.path);
    expect(messages(await read({ after: page.lastId! }))).toEqual(numbers(10, 20));
    expect(await read({ order: 'desc', after: page.lastId! })).toMatchObject({ entries: [], isEnd: true });
  });

  it('follows from the time of the last entry, however many lines come at once', async () => {
    // The log has a clock of its own, which no burst of another test has put ahead.
    const { open, read } = newLog(makeLogOpener(folder, silentLogger));
    const log = open();
    write(log, ...numbers(0, 500));
    await log.close();
    const seen = new Set<string>();
    for (let startMs = 0; ; ) {
      const fresh = (await read({ startMs, limit: 5 })).entries.filter((entry) => !seen.has(entry.id));
      if (fresh.length === 0) break;
      for (const entry of fresh) seen.add(entry.id);
      startMs = timeOfId(fresh.at(-1)!.id);
    }
    expect(seen.size).toBe(500);
  });

  it('gets past a millisecond with more entries than a page when it follows by time', async () => {
    const { open, read } = newLog();
    const log = open();
    write(log, ...numbers(0, 1_500));
    await log.close();
    const seen = new Map<string, string>();
    let startMs = 0;
    for (let polls = 0; seen.size < 1_500 && polls < 400; polls += 1) {
      const { entries } = await read({ startMs, limit: 10 });
      for (const { id, message } of entries) seen.set(id, message);
      startMs = timeOfId(entries.at(-1)!.id);
    }
    expect([...seen.values()].join()).toBe(numbers(0, 1_500).join());
  });

  it('respects a range of time, both ends inclusive', async () => {
    const { open, read } = newLog();
    const log = open();
    write(log, ...numbers(0, 10));
    await log.close();
    const times = (await read()).entries.map((entry) => timeOfId(entry.id));
    const range = { startMs: times[3]!, endMs: times[6]! };
    expect(messages(await read(range))).toEqual(numbers(3, 7));
    expect(messages(await read({ ...range, order: 'desc', limit: 2 }))).toEqual(['6', '5']);
    expect(await read({ startMs: times[9]! + 1 })).toMatchObject({ entries: [], isEnd: true });
    expect(await read({ order: 'desc', endMs: times[0]! - 1 })).toMatchObject({ entries: [], isEnd: true });
  });

  it('filters by level, text and run', async () => {
    const { open, read } = newLog();
    const log = open();
    const line = (level: string, message: string, more = {}) => JSON.stringify({ level, message, ...more });
    write(
      log,
      line('debug', 'one Needle', { runId: 'run-1', threadId: 't', graphId: 'g' }),
      line('info', 'two'),
      line('warn', 'three needles', { error: { message: 'because of "hay"' } }),
      line('error', 'four', { runId: 'run-2', about: 'run-1' }),
      line('fatal', 'five'),
    );
    await log.close();
    expect(messages(await read({ level: 'WARNING' }))).toEqual(['three needles', 'four', 'five']);
    expect(messages(await read({ level: 'CRITICAL' }))).toEqual(['five']);
    expect(messages(await read({ query: 'NEEDLE' }))).toEqual(['one Needle', 'three needles']);
    expect(messages(await read({ query: 'needles: because of "HAY"' }))).toEqual(['three needles']);
    const ofRun = await read({ runId: 'run-1' });
    expect(ofRun.entries).toMatchObject([{ message: 'one Needle', runId: 'run-1', threadId: 't', graphId: 'g' }]);
  });

  it('skips a line that was cut when the machine stopped', async () => {
    const { open, read, segments } = newLog();
    const log = open();
    write(log, 'whole');
    await log.close();
    await appendFile((await segments())[0]!.path, '{"id":"0192f7a0-3c1e-7000-8000-000000000001","timest');
    for (const order of ['asc', 'desc'] as const) expect(messages(await read({ order }))).toEqual(['whole']);
    await appendFile((await segments())[0]!.path, '\n\n{}\nx\n');
    for (const order of ['asc', 'desc'] as const) expect(messages(await read({ order }))).toEqual(['whole']);
  });

  it('reads a limited number of bytes for one page, and continues from there', async () => {
    const { open, read } = newLog();
    const log = open();
    write(log, ...numbers(0, 2_000).map((text) => text.padEnd(300, '.')), 'needle');
    await log.close();
    const pages = [await read({ query: 'needle', scanBytesMax: 200_000 })];
    while (!pages.at(-1)!.isEnd) {
      pages.push(await read({ query: 'needle', scanBytesMax: 200_000, after: pages.at(-1)!.lastId! }));
    }
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.flatMap(messages)).toEqual(['needle']);
  });
});

describe('expired logs', () => {
  const DAY_MS = 86_400_000;
  const sweep = (bytesPerDeploymentMax: number) =>
    new LogRetention({ dataDir: folder, retentionDays: 7, bytesPerDeploymentMax }).sweep();

  it('are removed, with their folder when it is empty', async () => {
    const [old, fresh] = [newLog(), newLog()];
    for (const { open } of [old, fresh]) {
      const log = open();
      write(log, 'x');
      await log.close();
    }
    const eightDaysAgo = new Date(Date.now() - 8 * DAY_MS);
    for (const { path } of await old.segments()) await utimes(path, eightDaysAgo, eightDaysAgo);
    await sweep(1e9);
    expect(await old.segments()).toEqual([]);
    expect(await logSegments.revisionsOf(folder, 'd')).not.toContain(old.owner.revisionId);
    expect(await fresh.segments()).toHaveLength(1);
  });

  it('are removed to make room for newer ones of their deployment, except the newest file of each log', async () => {
    const { open, segments } = newLog();
    for (const text of ['a', 'b', 'c']) {
      const log = open();
      write(log, text);
      await log.close();
    }
    await writeFile(join(logSegments.folderOf(folder, 'd'), 'stray.log'), 'not one of ours');
    const newest = (await segments()).at(-1);
    await sweep(1);
    expect(await segments()).toEqual([newest]);
  });
});
