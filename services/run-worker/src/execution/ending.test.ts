import type { ExecutionOutcome } from '@runyard/host-client';
import { expect, it } from 'vitest';
import { decideEnding } from './ending.ts';

const values = Buffer.from('{}');
const about = { timeoutSeconds: 5, attribution: 'sole' as const };
const done: Extract<ExecutionOutcome, { kind: 'done' }> = {
  kind: 'done',
  values,
  next: [],
  interrupts: null,
  checkpointId: 'c',
};

it('a run that reached its end is a success and its thread idle', () => {
  expect(decideEnding(done, undefined, about)).toMatchObject({
    kind: 'finish',
    status: 'success',
    threadStatus: 'idle',
  });
});

it.each([
  ['an interrupt', { interrupts: Buffer.from('{"t":[]}') }],
  ['a breakpoint', { next: ['node'] }],
])('a run that stopped at %s is a success and its thread interrupted', (_, reached) => {
  expect(decideEnding({ ...done, ...reached }, undefined, about)).toMatchObject({
    status: 'success',
    threadStatus: 'interrupted',
  });
});

it('a run that reached its end before the cancel reached it has ended well as far as the worker can tell', () => {
  expect(decideEnding(done, { kind: 'cancelled', reason: '' }, about)).toMatchObject({ status: 'success' });
});

it('an aborted run is interrupted, timed out or handed back, as the abort was meant', () => {
  const interrupts = Buffer.from('{"t":[]}');
  const aborted = { kind: 'aborted', values, interrupts, checkpointId: 'c' } as const;
  expect(decideEnding(aborted, { kind: 'cancelled', reason: '' }, about)).toMatchObject({
    status: 'interrupted',
    values,
    interrupts,
  });
  expect(decideEnding(aborted, { kind: 'timedOut', reason: '' }, about)).toMatchObject({
    status: 'error',
    error: { error: 'TimeoutError', message: 'The run took longer than 5 seconds.' },
    interrupts,
  });
  expect(decideEnding(aborted, { kind: 'drained' }, about)).toEqual({ kind: 'release', release: { isDrained: true } });
});

it('a run counts as handed back only when its worker stops', () => {
  expect(decideEnding({ kind: 'drained' }, { kind: 'drained' }, about)).toEqual({
    kind: 'release',
    release: { isDrained: true },
  });
  expect(decideEnding({ kind: 'drained' }, undefined, about)).toEqual({ kind: 'release', release: {} });
});

it('a failed run keeps what a node asked beside the one that failed', () => {
  const error = { error: 'Error', message: 'broken' };
  const interrupts = Buffer.from('{"t":[]}');
  expect(
    decideEnding({ kind: 'failed', error, values, interrupts, checkpointId: 'c' }, undefined, about),
  ).toMatchObject({
    status: 'error',
    threadStatus: 'error',
    interrupts,
    error,
  });
});

it('a run whose data the project did not encrypt is charged, and tried again when its handlers are asked again', () => {
  const lost = { kind: 'lost', cause: 'encryption', reason: 'not available' } as const;
  expect(decideEnding(lost, undefined, about)).toEqual({
    kind: 'release',
    release: { failure: { error: 'EncryptionUnavailable', message: 'not available' }, delayMs: 10_000 },
  });
});

it('a run whose stored data needs a key that is away waits for it and is not charged', () => {
  const lost = { kind: 'lost', cause: 'missingKey', reason: 'Key 01020304.' } as const;
  expect(decideEnding(lost, undefined, { ...about, attribution: 'sole' })).toEqual({
    kind: 'release',
    release: {
      awaitsKey: 'duringExecution',
      cause: { error: 'EncryptionKeyUnavailable', message: 'Key 01020304.' },
    },
  });
});

it('a run whose host ended is charged, quarantined or neither, by its crash attribution', () => {
  const lost = { kind: 'lost', cause: 'outOfMemory', reason: 'out of memory' } as const;
  expect(decideEnding(lost, undefined, about)).toEqual({
    kind: 'release',
    release: { failure: { error: 'GraphHostOutOfMemory', message: 'out of memory' } },
  });
  expect(decideEnding(lost, undefined, { ...about, attribution: 'shared' as const })).toEqual({
    kind: 'release',
    release: { isQuarantined: true, cause: { error: 'GraphHostOutOfMemory', message: 'out of memory' } },
  });
  expect(decideEnding(lost, undefined, { ...about, attribution: 'none' as const })).toEqual({
    kind: 'release',
    release: { cause: { error: 'GraphHostOutOfMemory', message: 'out of memory' } },
  });
});

it('a run whose storage was away is not charged; one that storage cannot complete is', () => {
  const lost = { kind: 'lost', reason: 'no answer' } as const;
  expect(decideEnding({ ...lost, cause: 'storage' }, undefined, about)).toEqual({
    kind: 'release',
    release: { cause: { error: 'StorageUnavailable', message: 'no answer' } },
  });
  expect(
    decideEnding({ ...lost, cause: 'slowStorage' }, undefined, { ...about, attribution: 'shared' as const }),
  ).toEqual({
    kind: 'release',
    release: { failure: { error: 'StorageTooSlow', message: 'no answer' } },
  });
});

it('nothing is written about a run that was taken over, whatever its outcome', () => {
  expect(decideEnding(done, { kind: 'lost' }, about)).toEqual({ kind: 'drop' });
  expect(decideEnding({ kind: 'fenced' }, undefined, about)).toEqual({ kind: 'drop' });
});
