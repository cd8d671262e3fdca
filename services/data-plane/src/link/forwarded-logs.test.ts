import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogReport } from '@runyard/contracts';
import { CopiedLogs, logSegments, makeLogOpener, type RevisionLog, readLogs } from '@runyard/revision-logs';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControlPlaneRefusedError } from './control-plane-client.ts';
import { ForwardedLogs } from './forwarded-logs.ts';

const OWNER = { deploymentId: 'd', revisionId: 'r', kind: 'deploy' as const };

const newFolder = (name: string) => mkdtemp(join(tmpdir(), `runyard-${name}-`));
let here: string;
let there: string;
let logs: ForwardedLogs;
let log: RevisionLog;
beforeEach(async () => {
  [here, there] = await Promise.all([newFolder('here'), newFolder('there')]);
});
afterEach(async () => {
  await log.close();
  await logs.stop();
  await Promise.all([here, there].map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Makes a fake platform, which keeps copies and all reports. `answer` may change what is kept and answered. */
function platform(answer: (report: LogReport, keep: () => Promise<string | null>) => Promise<string | null>) {
  const copies = new CopiedLogs(there);
  const reports: LogReport[] = [];
  const reportLogs = async (report: LogReport) => {
    reports.push(report);
    const entries = report.entries.map((entry) => ({ ...entry, timestamp: '' }));
    const keep = () => copies.append(OWNER, { firstId: report.first_id, after: report.after, entries });
    return { last_id: await answer(report, keep) };
  };
  return { reports, reportLogs };
}
const takesAll = () => platform((_, keep) => keep());

/** Starts a data plane with the files of earlier ones. */
function start(client: ReturnType<typeof platform>): void {
  const { signal } = new AbortController();
  const sendUntilAccepted = <T>(request: (epoch: number, signal: AbortSignal) => Promise<T>) => request(1, signal);
  logs = new ForwardedLogs({ dataDir: here, client, link: { sendUntilAccepted }, logger: silentLogger });
  const openLog = makeLogOpener(here, silentLogger, { onWritten: (owner) => logs.notifyWritten(owner) });
  log = openLog(OWNER, { secrets: ['s3cret-value'] });
  logs.start();
}
const print = (...lines: string[]) => {
  for (const line of lines) log.write(line, { source: 'agent-api' });
};
async function messages(): Promise<string[]> {
  const segments = await logSegments.list(there, OWNER);
  return (await readLogs(segments, { order: 'asc', limit: 10_000 })).entries.map(({ message }) => message);
}
const untilThere = (count: number) =>
  waitFor(async () => (await messages()).length >= count, { what: `${count} lines` });

describe('the log of a revision at a remote data plane', () => {
  it('is forwarded as it is printed, without the values of secrets', async () => {
    const client = takesAll();
    start(client);
    print('one', 'the key is s3cret-value');
    await untilThere(2);
    print('three');
    await untilThere(3);
    expect(await messages()).toEqual(['one', 'the key is ***', 'three']);
    expect(JSON.stringify(client.reports)).not.toContain('s3cret');
  });

  it('arrives once and complete, whatever connection broke and whoever restarted', async () => {
    start(takesAll());
    print('one', 'two');
    await untilThere(2);
    await log.close();
    await logs.stop();

    // Every second answer hides what was accepted.
    let batches = 0;
    start(
      platform(async ({ entries }, keep) => {
        const kept = await keep();
        if (entries.length > 0) batches += 1;
        return batches % 2 === 1 ? null : kept;
      }),
    );
    print('three', 'four');
    await untilThere(4);
    print('five');
    await untilThere(5);
    expect(await messages()).toEqual(['one', 'two', 'three', 'four', 'five']);
  });

  it('is at the platform when it was flushed, and is waited for no longer than is said', async () => {
    let isAway = false;
    let comeBack = (_lastId: null) => {};
    const away = new Promise<null>((resolve) => (comeBack = resolve));
    start(platform((_, keep) => (isAway ? away : keep())));
    print('first', 'last');
    await log.close();
    await logs.flush(60_000);
    expect(await messages()).toEqual(['first', 'last']);
    isAway = true;
    log = makeLogOpener(here, silentLogger, { onWritten: (owner) => logs.notifyWritten(owner) })(OWNER, {
      secrets: [],
    });
    print('late');
    await log.close();
    await logs.flush(1);
    expect(await messages()).toEqual(['first', 'last']);
    comeBack(null);
  });

  it('is sent again from the beginning to a platform that has lost it', async () => {
    start(takesAll());
    print('one', 'two');
    await untilThere(2);
    await rm(join(there, 'logs'), { recursive: true });
    print('three');
    await untilThere(3);
    expect(await messages()).toEqual(['one', 'two', 'three']);
  });

  it('is sent in batches of limited size, one at a time, while a flood waits in files', async () => {
    let underWay = 0;
    let mostUnderWay = 0;
    const client = platform(async (_, keep) => {
      underWay += 1;
      mostUnderWay = Math.max(mostUnderWay, underWay);
      const kept = await keep();
      underWay -= 1;
      return kept;
    });
    start(client);
    print(...Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(10_000)}`));
    await untilThere(300);
    expect((await messages()).map((message) => Number.parseInt(message, 10))).toEqual([...Array(300).keys()]);
    expect(mostUnderWay).toBe(1);
    for (const report of client.reports) expect(JSON.stringify(report).length).toBeLessThan(300_000);
  });

  it('is skipped where the platform never accepts it, and later lines are sent', async () => {
    const isPoison = ({ entries }: LogReport) => entries.some(({ message }) => message === 'poison');
    const client = platform(async (report, keep) => {
      if (isPoison(report)) throw new ControlPlaneRefusedError(422, 'not that');
      return keep();
    });
    start(client);
    print('poison');
    await waitFor(() => client.reports.some(isPoison), { what: 'the refusal' });
    print('healthy');
    await untilThere(1);
    expect(await messages()).toEqual(['healthy']);
  });
});
