import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { BODY_CUTS, sendCutBody } from '@runyard/test-kit/cut-bodies';
import { afterEach, describe, expect, it } from 'vitest';
import { readBody, streamBody } from './body.ts';
import { discardUnreadBodies } from './unread-bodies.ts';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
});

async function start(handler: RequestListener, lingerMs?: number): Promise<string> {
  server = createServer(handler);
  discardUnreadBodies(server, lingerMs === undefined ? {} : { lingerMs });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const refuse = (res: ServerResponse) => res.writeHead(413, { 'content-length': 2 }).end('no');

/** The ways in which a handler may leave a body. */
const LEAVING: Record<string, (req: IncomingMessage, res: ServerResponse) => unknown> = {
  'without reading': (_req, res) => refuse(res),
  'a moment later without reading': (_req, res) => setImmediate(() => refuse(res)),
  'after the first part': (req, res) =>
    req.once('data', () => {
      req.pause();
      refuse(res);
    }),
  async 'in the middle of a loop over it'(req, res) {
    for await (const _ of req.iterator({ destroyOnReturn: false })) break;
    refuse(res);
  },
  'with a reader that waits for more'(req, res) {
    req.on('readable', () => undefined);
    setImmediate(() => refuse(res));
  },
  'with a pipe into something that is full'(req, res) {
    req.pipe(new PassThrough({ highWaterMark: 1 }));
    setImmediate(() => refuse(res));
  },
  'as too large': (req, res) => readBody(req, 1_000).catch(() => refuse(res)),
  'as too large, in chunks': (req, res) => streamBody(req, 1_000, () => undefined).catch(() => refuse(res)),
  'with an answer of unknown length': (_req, res) => res.writeHead(413).end('no'),
};

describe.each(Object.keys(LEAVING))('a request that is answered %s', (how) => {
  it.each(BODY_CUTS)('leaves its connection to the next one: $name', async (cut) => {
    const url = await start((req, res) => (req.method === 'GET' ? res.end('next') : LEAVING[how]!(req, res)));
    expect(await sendCutBody(url, { cut })).toEqual({ first: 413, next: 200 });
  });
});

it('a client that is still sending gets the last answer of its connection whole, and then its end', async () => {
  const url = await start((_req, res) => res.writeHead(413, { connection: 'close' }).end('no'.repeat(50_000)));
  for (const cut of BODY_CUTS) expect(await sendCutBody(url, { cut })).toEqual({ first: 413, next: 'closed' });
});

it('a client that keeps the rest of a body to itself is disconnected', async () => {
  const url = await start((_req, res) => refuse(res), 1);
  const cut = { ...BODY_CUTS[0]!, sendsRest: false };
  expect(await sendCutBody(url, { cut })).toEqual({ first: 413, next: 'closed' });
});
