import type { PendingWrite, StoredCheckpoint } from '@runyard/checkpointer/graph-process';
import { expect, it } from 'vitest';
import { remainingResume, withMarker, withoutMarkers } from './resume-marker.ts';

const NO_TASK = '00000000-0000-0000-0000-000000000000';
const key = { threadId: 't', namespace: '', checkpointId: 'c' };
const json = (value: unknown) => ({ type: 'json', data: Buffer.from(JSON.stringify(value)) });
const write = (taskId: string, channel: string, value: unknown): PendingWrite => ({
  taskId,
  channel,
  value: json(value),
});
const stored = (pendingWrites: PendingWrite[]): StoredCheckpoint => ({
  key,
  checkpoint: json({}),
  metadata: json({}),
  channelValues: [],
  pendingWrites,
});

function markerOf(runId: string, before: PendingWrite[]): PendingWrite {
  const put = withMarker({ key, taskId: NO_TASK, taskPath: '', writes: [] }, runId, before);
  const [{ channel, value } = { channel: '', value: json(null) }] = put.writes;
  return { taskId: NO_TASK, channel, value };
}

it('resumes again while the resume of this run is not stored', () => {
  expect(remainingResume('yes', 'run 2', stored([markerOf('run 1', [])]))).toBe('yes');
  expect(remainingResume('yes', 'run 2', undefined)).toBe('yes');
});

it('does not resume again once it is', () => {
  expect(remainingResume('yes', 'run 1', stored([markerOf('run 1', [])]))).toBeUndefined();
});

it('gives only the answers that no task has taken', () => {
  const [a, b] = ['a'.repeat(32), 'b'.repeat(32)];
  const before = [write('task a', '__interrupt__', [{ id: a }]), write('task b', '__interrupt__', [{ id: b }])];
  const after = stored([...before, markerOf('run 1', before), write('task a', '__resume__', ['x'])]);
  expect(remainingResume({ [a]: 'x', [b]: 'y' }, 'run 1', after)).toEqual({ [b]: 'y' });
});

it('is invisible to the graph', () => {
  const own = write('task', 'text', 'hi');
  expect(withoutMarkers(stored([own, markerOf('run 1', [])])).pendingWrites).toEqual([own]);
});
