import { appendFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CopiedLogs, LogFileFullError } from './copied-logs.ts';
import { EntryIds, timeOfId } from './entry-ids.ts';
import type { StoredEntry } from './log-entry.ts';
import { logSegments } from './log-segments.ts';
import { readLogs } from './read-logs.ts';

let folder: string;
let copies: CopiedLogs;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-copied-logs-'));
  copies = new CopiedLogs(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const LONG_AGO = Date.UTC(2026, 0, 1);
const ids = new EntryIds();
const entry = (message: string): StoredEntry => {
  const id = ids.next(LONG_AGO);
  const timestamp = new Date(timeOfId(id)).toISOString();
  return { id, timestamp, source: 'agent-api', level: 'INFO', message };
};
const ownerOf = (revisionId: string) => ({ deploymentId: 'd', revisionId, kind: 'deploy' as const });
async function messagesOf(revisionId: string): Promise<string[]> {
  const segments = await logSegments.list(folder, ownerOf(revisionId));
  return (await readLogs(segments, { order: 'asc', limit: 100 })).entries.map(({ message }) => message);
}

describe('a copy of a log', () => {
  it('refuses a file that is older than all it may keep', async () => {
    const owner = ownerOf('full');
    const large = 'x'.repeat(2 * 1024 * 1024);
    const old = entry(large);
    for (let file = 0; file < 9; file += 1) {
      const newer = entry(large);
      await copies.append(owner, { firstId: newer.id, after: null, entries: [newer] });
    }
    const before = await logSegments.list(folder, owner);
    const adding = copies.append(owner, { firstId: old.id, after: null, entries: [old] });
    await expect(adding).rejects.toThrow(LogFileFullError);
    expect(await logSegments.list(folder, owner)).toEqual(before);
  });

  it('appends lines that follow its last one, and otherwise returns its last id', async () => {
    const owner = ownerOf('in-order');
    const [one, two, three] = [entry('one'), entry('two'), entry('three')];
    const add = (after: string | null, ...entries: StoredEntry[]) =>
      copies.append(owner, { firstId: one.id, after, entries });
    expect(await add(null)).toBeNull();
    expect(await add(one.id, two)).toBeNull();
    expect(await add(null, one, two)).toBe(two.id);
    expect(await add(null, one, two)).toBe(two.id);
    expect(await add(one.id, two, three)).toBe(two.id);
    expect(await add(two.id, three)).toBe(three.id);
    expect(await messagesOf('in-order')).toEqual(['one', 'two', 'three']);
  });

  it('continues after a line that was cut when its writer was killed', async () => {
    const owner = ownerOf('cut');
    const [one, two] = [entry('one'), entry('two')];
    await copies.append(owner, { firstId: one.id, after: null, entries: [one] });
    const { path } = logSegments.at(folder, owner, one.id);
    await appendFile(path, JSON.stringify(two).slice(0, 70));
    expect(await copies.append(owner, { firstId: one.id, after: one.id, entries: [two] })).toBe(two.id);
    expect(await messagesOf('cut')).toEqual(['one', 'two']);
  });

  it('has the age of its lines, and accepts no more lines in a full file', async () => {
    const owner = ownerOf('full');
    const large = Array.from({ length: 40 }, () => entry('x'.repeat(60_000)));
    const firstId = large[0]!.id;
    const lastId = await copies.append(owner, { firstId, after: null, entries: large });
    const { mtimeMs } = await stat(logSegments.at(folder, owner, firstId).path);
    expect(Math.round(mtimeMs)).toBe(timeOfId(lastId!));
    const more = copies.append(owner, { firstId, after: lastId, entries: [entry('more')] });
    await expect(more).rejects.toThrow(LogFileFullError);
  });
});
