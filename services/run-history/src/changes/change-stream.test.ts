import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@runyard/test-kit';
import { afterEach, expect, it } from 'vitest';
import { ChangeStream, type ChangeStreamOptions } from './change-stream.ts';

const servers: { close(): unknown; closeAllConnections(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Opens a stream, and returns both ends of it. */
async function open(
  options: Partial<ChangeStreamOptions>,
): Promise<{ stream: ChangeStream; res: ServerResponse; answer: IncomingMessage }> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const begun = new Promise<{ stream: ChangeStream; res: ServerResponse }>((resolve) =>
    server.once('request', (_, res) => {
      const stream = new ChangeStream(res, {
        findVisible: async (ids) => ids,
        deploymentIds: undefined,
        onHeldBack: () => undefined,
        ...options,
      });
      resolve({ stream, res });
    }),
  );
  const { port } = server.address() as AddressInfo;
  const answer = await new Promise<IncomingMessage>((resolve) => request({ port }, resolve).end());
  return { ...(await begun), answer };
}

const hintsIn = (body: string) =>
  [...body.matchAll(/runs_changed\r\ndata: (.*)/g)].map(([, data]) => JSON.parse(data!).deployment_ids as string[]);

it('a client that reads nothing gets what gathered as one hint, and its buffer stays small', async () => {
  const { stream, res, answer } = await open({ eventEveryMs: 0 });
  const ids = Array.from({ length: 1_000 }, (_, index) => `${index}`.padStart(36, '0'));
  // The buffers of both systems fill first.
  for (let count = 0; !res.writableNeedDrain; count += 1) {
    stream.hear(ids);
    await pause(0);
    if (count > 10_000) throw new Error('the connection takes everything');
  }
  const buffered = res.writableLength;
  for (let count = 0; count < 1_000; count += 1) stream.hear([...ids, 'the last']);
  await pause(50);
  expect(res.writableLength).toBe(buffered);
  const read = text(answer);
  await waitFor(() => !res.writableNeedDrain);
  await pause(50);
  stream.end();
  const hints = hintsIn(await read);
  expect(hints.filter((each) => each.includes('the last'))).toEqual([[...ids, 'the last']]);
});

it('a client that reads nothing for too long is cut', async () => {
  const { stream, res } = await open({ eventEveryMs: 0, stalledMs: 100 });
  const ids = Array.from({ length: 1_000 }, (_, index) => `${index}`.padStart(36, '0'));
  while (!res.writableNeedDrain) {
    stream.hear(ids);
    await pause(0);
  }
  await waitFor(() => res.destroyed);
});

it('a stream ends in order after its time', async () => {
  const { answer } = await open({ lifetimeMs: 100 });
  expect(await text(answer)).toBe('event: ready\r\ndata: {}\r\n\r\n');
});

it('nothing is asked or sent after the end, even when it comes while somebody decides what the caller may see', async () => {
  let decide!: (ids: string[]) => void;
  let questions = 0;
  const { stream, answer } = await open({
    findVisible: () => {
      questions += 1;
      return new Promise((resolve) => {
        decide = resolve;
      });
    },
  });
  stream.hear(['a']);
  await waitFor(() => questions === 1);
  stream.hear(['b']);
  stream.end();
  decide(['a']);
  stream.hear(['c']);
  expect(hintsIn(await text(answer))).toEqual([]);
  expect(questions).toBe(1);
});

it('one question at a time is asked, and what changes meanwhile is in the next hint', async () => {
  let asked = 0;
  let most = 0;
  const { stream, answer } = await open({
    eventEveryMs: 0,
    findVisible: async (ids) => {
      asked += 1;
      most = Math.max(most, asked);
      await pause(50);
      asked -= 1;
      return ids;
    },
  });
  stream.hear(['a']);
  await pause(10);
  for (const id of ['b', 'c', 'b']) stream.hear([id]);
  await pause(200);
  stream.end();
  expect(hintsIn(await text(answer))).toEqual([['a'], ['b', 'c']]);
  expect(most).toBe(1);
});
