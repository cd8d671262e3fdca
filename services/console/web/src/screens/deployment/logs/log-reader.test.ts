import type { LogEntry, LogPage, LogRequest } from '@runyard/contracts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LogReader } from './log-reader.ts';

/** A log as the platform answers it: offsets are the ids of the last lines. */
class FakeLog {
  lines: LogEntry[] = [];
  requests: LogRequest[] = [];
  fault: Error | undefined;

  print(...numbers: number[]): void {
    for (const number of numbers)
      this.lines.push({
        id: String(number).padStart(8, '0'),
        timestamp: number,
        level: 'INFO',
        message: `line ${number}`,
        source: 'agent-api',
        revision_id: '0192f7a0-0000-7000-8000-000000000002',
      });
  }

  readonly read = async (request: LogRequest): Promise<LogPage> => {
    this.requests.push(request);
    if (this.fault) throw this.fault;
    const { order, limit, offset, start_time: start, end_time: end } = request;
    const ordered = order === 'desc' ? this.lines.toReversed() : this.lines;
    const found = ordered.filter(
      ({ id, timestamp }) =>
        (!offset || (order === 'desc' ? id < offset : id > offset)) &&
        (!start || timestamp >= Date.parse(start)) &&
        (!end || timestamp <= Date.parse(end)),
    );
    const logs = found.slice(0, limit ?? 50);
    const hasNext = found.length > logs.length || (order === 'asc' && logs.length > 0);
    return { logs, next_offset: hasNext ? logs.at(-1)!.id : null };
  };
}

const numbers = (reader: LogReader) => reader.snapshot().entries.map(({ timestamp }) => timestamp);
const pollOnce = () => vi.advanceTimersByTimeAsync(700);
let log: FakeLog;
beforeEach(() => {
  vi.useFakeTimers();
  log = new FakeLog();
});
afterEach(() => vi.useRealTimers());

async function startReader(options: { first?: number } = {}): Promise<LogReader> {
  const reader = new LogReader(log.read, {}, options);
  reader.start();
  await vi.advanceTimersByTimeAsync(0);
  return reader;
}

test('the newest lines are read first, then only what is new', async () => {
  log.print(1, 2, 3);
  const reader = await startReader({ first: 2 });
  expect(numbers(reader)).toEqual([2, 3]);
  log.print(4);
  await pollOnce();
  expect(numbers(reader)).toEqual([2, 3, 4]);
  await pollOnce();
  expect(log.requests.at(-1)).toMatchObject({ order: 'asc', offset: '00000004' });
});

test('a new line is there within a second', async () => {
  log.print(1);
  const reader = await startReader();
  await pollOnce();
  log.print(2);
  await vi.advanceTimersByTimeAsync(999);
  expect(numbers(reader)).toEqual([1, 2]);
});

test('older lines are read by page, until there are none', async () => {
  log.print(...Array.from({ length: 1_005 }, (_, index) => index));
  const reader = await startReader({ first: 2 });
  await reader.readOlder();
  expect(reader.snapshot()).toMatchObject({ hasOlder: true });
  await reader.readOlder();
  expect(reader.snapshot()).toMatchObject({ hasOlder: false });
  expect(numbers(reader)).toEqual(Array.from({ length: 1_005 }, (_, index) => index));
});

test('an empty log is followed from its first line', async () => {
  const reader = await startReader();
  log.print(1);
  await pollOnce();
  expect(numbers(reader)).toEqual([1]);
});

test('a fault is shown while the lines stay, and goes with the next answer', async () => {
  log.print(1);
  const reader = await startReader();
  log.fault = new Error('down');
  await pollOnce();
  expect(reader.snapshot()).toMatchObject({ error: log.fault });
  expect(numbers(reader)).toEqual([1]);
  log.fault = undefined;
  log.print(2);
  await vi.advanceTimersByTimeAsync(1_400);
  expect(reader.snapshot().error).toBeUndefined();
  expect(numbers(reader)).toEqual([1, 2]);
});

test('a paused reader asks for nothing, and has what came meanwhile when it goes on', async () => {
  log.print(1);
  const reader = await startReader();
  reader.pause();
  log.print(2, 3);
  const asked = log.requests.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(log.requests).toHaveLength(asked);
  reader.resume();
  await vi.advanceTimersByTimeAsync(0);
  expect(numbers(reader)).toEqual([1, 2, 3]);
});

test('after the end, the last lines are read and then nothing more is asked', async () => {
  log.print(1);
  const reader = await startReader();
  reader.setLive(false);
  log.print(2);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(reader.snapshot().phase).toBe('ended');
  expect(numbers(reader)).toEqual([1, 2]);
  const asked = log.requests.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(log.requests).toHaveLength(asked);
});
