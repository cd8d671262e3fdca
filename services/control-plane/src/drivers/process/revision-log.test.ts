import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@runyard/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEntry, RevisionLog } from './revision-log.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-revision-log-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const open = (deploymentId: string) => RevisionLog.open(folder, { deploymentId, revisionId: 'r' }, silentLogger);
const entriesOf = async (deploymentId: string) =>
  (await readFile(join(folder, 'logs', deploymentId, 'r.log'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the log of a revision', () => {
  it('keeps what the platform’s services log, with level and fields, and what else is printed', async () => {
    const log = await open('kinds');
    log.write(
      '{"time":"2026-11-20T12:00:00.000Z","level":"warn","message":"careful","runId":"1"}',
      'agent-api',
      'stdout',
    );
    log.write('plain text', 'run-worker', 'stdout');
    log.write('{"not": "a log line"}', 'run-worker', 'stderr');
    log.write('{broken', 'run-worker', 'stderr');
    await log.close();
    expect(await entriesOf('kinds')).toEqual([
      { timestamp: '2026-11-20T12:00:00.000Z', level: 'warn', process: 'agent-api', message: 'careful', runId: '1' },
      { timestamp: expect.any(String), level: 'info', process: 'run-worker', message: 'plain text' },
      { timestamp: expect.any(String), level: 'error', process: 'run-worker', message: '{"not": "a log line"}' },
      { timestamp: expect.any(String), level: 'error', process: 'run-worker', message: '{broken' },
    ]);
  });

  it('goes on where it was after a restart, and can be read by its owner alone', async () => {
    for (const line of ['first', 'second']) {
      const log = await open('restarted');
      log.write(line, 'agent-api', 'stdout');
      await log.close();
    }
    expect((await entriesOf('restarted')).map((entry) => entry.message)).toEqual(['first', 'second']);
    expect((await stat(join(folder, 'logs/restarted/r.log'))).mode & 0o777).toBe(0o600);
  });

  it('is bounded: a flood leaves two files of limited size, and the newest line', async () => {
    const line = 'x'.repeat(10_000);
    for (let round = 0; round < 3; round += 1) {
      const log = await open('flood');
      for (let count = 0; count < 1_000; count += 1) log.write(line, 'agent-api', 'stdout');
      log.write('the end', 'agent-api', 'stdout');
      expect(log.recent(1)[0]!.message).toBe('the end');
      await log.close();
    }
    const files = await readdir(join(folder, 'logs/flood'));
    expect(files.sort()).toEqual(['r.log', 'r.log.1']);
    for (const file of files) expect((await stat(join(folder, 'logs/flood', file))).size).toBeLessThan(12e6);
    expect((await entriesOf('flood')).at(-1).message).toBe('the end');
  });

  it('describes an error with its cause', () => {
    const entry = {
      timestamp: '',
      level: 'error',
      process: 'agent-api',
      message: 'could not start',
      error: { message: 'no graph', cause: { message: 'Cannot find module' } },
    };
    expect(describeEntry(entry)).toBe('agent-api: could not start: no graph: Cannot find module');
  });
});
