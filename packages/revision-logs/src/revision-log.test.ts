import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@runyard/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timeOfId } from './entry-ids.ts';
import { describeEntry } from './log-entry.ts';
import { logSegments } from './log-segments.ts';
import { makeLogOpener, type OpenRevisionLog } from './revision-log.ts';

let folder: string;
let openLog: OpenRevisionLog;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-revision-log-'));
  openLog = makeLogOpener(folder, silentLogger);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ownerOf = (revisionId: string) => ({ deploymentId: 'd', revisionId, kind: 'deploy' as const });
const open = (revisionId: string, secrets: string[] = []) => openLog(ownerOf(revisionId), { secrets });
async function entriesOf(revisionId: string) {
  const segments = await logSegments.list(folder, ownerOf(revisionId));
  const texts = await Promise.all(segments.map(({ path }) => readFile(path, 'utf8')));
  return texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line));
}

describe('the log of a revision', () => {
  it("keeps the level, run and fields of the platform's log lines, and all other output", async () => {
    const log = open('kinds');
    log.write(
      '{"time":"2020-01-01T00:00:00.000Z","level":"warn","message":"careful","service":"x","runId":"1","threadId":"2","graphId":"g","from":"project"}',
      { source: 'run-worker' },
    );
    log.write('plain text', { source: 'build' });
    log.write('{"not": "a log line"}', { source: 'run-worker', level: 'ERROR' });
    log.write('{broken', { source: 'run-worker', level: 'ERROR' });
    await log.close();
    const entries = await entriesOf('kinds');
    const written = { id: expect.any(String), timestamp: expect.any(String) };
    expect(entries).toEqual([
      {
        ...written,
        level: 'WARNING',
        source: 'run-worker',
        message: 'careful',
        runId: '1',
        threadId: '2',
        graphId: 'g',
        fields: { from: 'project' },
      },
      { ...written, level: 'INFO', source: 'build', message: 'plain text' },
      { ...written, level: 'ERROR', source: 'run-worker', message: '{"not": "a log line"}' },
      { ...written, level: 'ERROR', source: 'run-worker', message: '{broken' },
    ]);
    for (const { id, timestamp } of entries) expect(timeOfId(id)).toBe(Date.parse(timestamp));
    expect(Date.now() - timeOfId(entries[0].id)).toBeLessThan(60_000);
  });

  it('names the service of a process with several as the source of its lines, and the process for all others', async () => {
    const log = open('several');
    const lineOf = (service: unknown) => JSON.stringify({ level: 'info', message: 'x', service });
    const lines = [
      lineOf('run-worker'),
      lineOf('agent-api'),
      lineOf('constructor'),
      lineOf(7),
      '"service":"run-worker"',
    ];
    for (const line of lines) log.write(line, { source: 'agent-api', sources: { 'run-worker': 'run-worker-1' } });
    await log.close();
    const sources = (await entriesOf('several')).map(({ source }) => source);
    expect(sources).toEqual(['run-worker-1', ...Array(4).fill('agent-api')]);
  });

  it('gives entries unique ids that sort in the order of writing', async () => {
    const log = open('ids');
    for (let count = 0; count < 2_000; count += 1) log.write(String(count), { source: 'build' });
    await log.close();
    const entries = await entriesOf('ids');
    expect(entries.map((entry) => entry.message)).toEqual(Array.from({ length: 2_000 }, (_, count) => String(count)));
    const ids = entries.map((entry) => entry.id);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('masks the values of secrets, in messages and in fields', async () => {
    const log = open('masked', ['s3cret"value', 'other-secret']);
    log.write(JSON.stringify({ level: 'info', message: `got ${JSON.stringify({ key: 's3cret"value' })}` }), {
      source: 'w',
    });
    log.write(
      JSON.stringify({ level: 'info', message: 'x', error: { message: 's3cret"value', at: ['other-secret'] } }),
      {
        source: 'w',
      },
    );
    log.write(`${'x'.repeat(16_380)}other-secret`, { source: 'build' });
    log.write('git clone https://user:a-password@example.com/x', { source: 'build' });
    expect(JSON.stringify(log.recent(10))).not.toMatch(/s3cret|other-|a-password/);
    await log.close();
    expect(JSON.stringify(await entriesOf('masked'))).not.toMatch(/s3cret|other-|a-password/);
  });

  it('keeps the lines of two concurrent writers whole', async () => {
    const logs = [open('shared'), open('shared')];
    for (let count = 0; count < 100; count += 1) for (const log of logs) log.write(`line ${count}`, { source: 'w' });
    await Promise.all(logs.map((log) => log.close()));
    expect(await entriesOf('shared')).toHaveLength(200);
  });

  it('can be read only by its owner', async () => {
    const log = open('private');
    log.write('x', { source: 'w' });
    await log.close();
    const [segment] = await logSegments.list(folder, ownerOf('private'));
    expect((await stat(segment!.path)).mode & 0o777).toBe(0o600);
    expect((await stat(logSegments.folderOf(folder, 'd'))).mode & 0o777).toBe(0o700);
  });

  it('is limited: a flood of lines leaves files of limited size, with the newest line', async () => {
    const line = 'x'.repeat(10_000);
    for (let round = 0; round < 2; round += 1) {
      const log = open('flood');
      for (let count = 0; count < 1_000; count += 1) log.write(line, { source: 'w' });
      log.write('the end', { source: 'w' });
      expect(log.recent(1)[0]!.message).toBe('the end');
      await log.close();
    }
    const segments = await logSegments.list(folder, ownerOf('flood'));
    const sizes = await Promise.all(segments.map(async ({ path }) => (await stat(path)).size));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect((await entriesOf('flood')).at(-1).message).toBe('the end');
  });

  it('creates no file without lines', async () => {
    open('silent').close();
    expect(await logSegments.revisionsOf(folder, 'd')).not.toContain('silent');
  });

  it('describes an error with its cause', () => {
    const entry = {
      id: '',
      timestamp: '',
      level: 'ERROR' as const,
      source: 'agent-api',
      message: 'could not start',
      fields: { error: { message: 'no graph', cause: { message: 'Cannot find module' } } },
    };
    expect(describeEntry(entry)).toBe('agent-api: could not start: no graph: Cannot find module');
  });

  it('says a reason once, that the error and its cause both have', () => {
    const error = { message: 'Graph "a" did not load: no model', cause: { message: 'no model' } };
    const entry = { id: 'i', at: '', level: 'ERROR', source: 'agent-api', message: 'start failed', fields: { error } };
    expect(describeEntry(entry as never)).toBe('agent-api: start failed: Graph "a" did not load: no model');
  });
});
