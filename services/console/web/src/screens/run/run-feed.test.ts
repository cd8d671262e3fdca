import { expect, test } from 'vitest';
import { RunFeed } from './run-feed.ts';
import type { ThreadEvent } from './thread-event.ts';

const NOTHING = { listStates: async () => [], getState: async () => undefined };
const TIMES = { runId: 'r', createdAt: 0, startedAt: undefined, endedAt: undefined };

function openFeed() {
  const frames: (() => void)[] = [];
  const feed = new RunFeed(TIMES, NOTHING, (frame) => frames.push(frame));
  return { feed, frames, drawFrame: () => frames.shift()?.() };
}

let seq = 0;
const event = (method: string, data: Record<string, unknown>): ThreadEvent => {
  seq += 1;
  return { event_id: String(seq), seq, method, params: { namespace: [], timestamp: seq, data } };
};
const custom = () => event('custom', { payload: seq });

test('events that come between two frames make one snapshot', () => {
  const { feed, frames, drawFrame } = openFeed();
  let published = 0;
  feed.subscribe(() => (published += 1));
  for (let index = 0; index < 40; index++) feed.addEvent(custom());
  expect(frames).toHaveLength(1);
  drawFrame();
  expect(published).toBe(1);
  expect(feed.getSnapshot().rows).toHaveLength(40);
});

test('what one frame has no time for comes with the next, and nothing is lost', () => {
  const { feed, frames, drawFrame } = openFeed();
  for (let index = 0; index < 20_000; index++) feed.addEvent(custom());
  while (frames.length > 0) drawFrame();
  expect(feed.getSnapshot().rows).toHaveLength(20_000);
});

test('the end of the run is known once its event is', () => {
  const { feed, drawFrame } = openFeed();
  feed.addEvent(event('lifecycle', { event: 'running' }));
  feed.addEvent(event('lifecycle', { event: 'failed', error: '{"error":"Lost","message":"away"}' }));
  expect(feed.getSnapshot().hasEnded).toBe(false);
  drawFrame();
  expect(feed.getSnapshot().hasEnded).toBe(true);
  expect(feed.timeline.get('error')).toMatchObject({ title: 'Lost', text: 'away' });
});

test('a stream that breaks off leaves a line after what came last', () => {
  const { feed, drawFrame } = openFeed();
  feed.addEvent(custom());
  drawFrame();
  feed.addBreak();
  feed.addEvent(custom());
  drawFrame();
  const { rows } = feed.getSnapshot();
  expect(rows.map(({ id }) => feed.timeline.get(id)?.kind)).toEqual(['custom', 'gap', 'custom']);
});

test('attempts are lines of their own only where there were several', () => {
  const { feed, drawFrame } = openFeed();
  const attempt = (number: number, outcome: string) => ({
    attempt: number,
    started_at: new Date(number * 1_000).toISOString(),
    ended_at: null,
    outcome,
  });
  feed.updateRun(TIMES, [attempt(1, 'success')], null);
  drawFrame();
  expect(feed.getSnapshot().rows).toHaveLength(0);
  feed.updateRun(TIMES, [attempt(1, 'worker_lost'), attempt(2, 'success')], null);
  drawFrame();
  expect(feed.getSnapshot().rows.map(({ id }) => feed.timeline.get(id)?.text)).toEqual(['worker lost', 'success']);
});
