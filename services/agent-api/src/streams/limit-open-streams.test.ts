import { EventEmitter } from 'node:events';
import { type BoundOperation, type HandlerRequest, StreamPlaces } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { limitOpenStreams } from './limit-open-streams.ts';

function asked(places: StreamPlaces, operationId: string, query: Record<string, string> = {}, hasLeft = false) {
  const res = Object.assign(new EventEmitter(), { closed: hasLeft });
  let wasHandled = false;
  const operation = { operationId } as BoundOperation['operation'];
  const { handler } = limitOpenStreams(places)({
    operation,
    handler: async () => {
      wasHandled = true;
    },
  });
  const answer = handler({ res, query } as unknown as HandlerRequest);
  return { answer, close: () => res.emit('close'), wasHandled: () => wasHandled };
}

it('a client that finds no place is refused with Retry-After before anything is done, and places are free again at the end', async () => {
  const places = new StreamPlaces(2);
  const first = asked(places, 'streamRun');
  const second = asked(places, 'cancelRun', { wait: '1' });
  await Promise.all([first.answer, second.answer]);
  const third = asked(places, 'joinThreadStream');
  await expect(third.answer).rejects.toMatchObject({
    status: 503,
    code: 'too_many_open_streams',
    headers: { 'retry-after': '1' },
  });
  expect(third.wasHandled()).toBe(false);
  await asked(places, 'getRun').answer;
  await asked(places, 'cancelRun', { wait: '0' }).answer;
  first.close();
  await asked(places, 'waitRun').answer;
  expect(places.taken).toBe(2);
});

it('a client that left before it was served takes no place', async () => {
  const places = new StreamPlaces(1);
  await asked(places, 'joinRunStream', {}, true).answer;
  expect(places.taken).toBe(0);
});
