import type { HostConnection } from '@runyard/host-protocol/graph-process';
import { expect, it } from 'vitest';
import { EventBuffer } from './event-buffer.ts';

it('an event that was superseded while it waited does not count as emitted', () => {
  const flushes: (() => void)[] = [];
  const sent: unknown[] = [];
  const connection = {
    beforeFlush: (flush: () => void) => flushes.push(flush),
    send: (_lane: number, { events }: { events: unknown[] }) => sent.push(...events),
  } as unknown as HostConnection;
  const limits = { creditBytes: 1, bufferBytes: 1000, eventBytes: 100 };
  const buffer = new EventBuffer({ connection, use: 1, ...limits, onOverflow: () => undefined });
  const push = (data: string) => buffer.push({ mode: 'messages', event: 'partial', data, supersedes: 'message' });
  push('"a"');
  for (const flush of flushes.splice(0)) flush();
  push('"ab"');
  push('"abc"');
  expect(buffer.emitted).toBe(2);
  buffer.grant(100);
  for (const flush of flushes.splice(0)) flush();
  expect(sent).toHaveLength(buffer.emitted);
});
