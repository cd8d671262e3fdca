import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { LiveResponse } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { OpenResponses } from './open-responses.ts';

/** An answer whose client is there until `leave`. */
function answerTo(): { res: ServerResponse; leave(): Promise<void> } {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  const res = Object.assign(sink, { writeHead: () => res, flushHeaders: () => {}, setTimeout: () => res });
  const closed = new Promise<void>((resolve) => sink.once('close', () => resolve()));
  return {
    res: res as unknown as ServerResponse,
    leave: () => {
      sink.destroy();
      return closed;
    },
  };
}

const live = (res: ServerResponse) => new LiveResponse(res, {}, { heartbeat: ':' });

it('an answer is held until its client leaves', async () => {
  const open = new OpenResponses();
  const { res, leave } = answerTo();
  open.add(live(res));
  expect(open.size).toBe(1);
  await leave();
  expect(open.size).toBe(0);
});

it('an answer whose client left before it began is not held', async () => {
  const open = new OpenResponses();
  const { res, leave } = answerTo();
  await leave();
  const isEndedByService = open.add(live(res));
  expect(open.size).toBe(0);
  expect(isEndedByService()).toBe(false);
});
