import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Lookup, OutboundClient, OutboundPolicy } from './index.ts';

let answer: (req: IncomingMessage, res: ServerResponse) => void;
let asked: string[] = [];
const server = createServer((req, res) => {
  asked.push(`${req.method} ${req.headers.host} ${req.url}`);
  answer(req, res);
});
let port: number;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  answer = (_, res) => res.end('hello');
});

/** Makes a resolver that returns the next answer of a name at each query; the last one stays. */
function names(answers: Record<string, string[][]>): { lookup: Lookup; questions: string[] } {
  const questions: string[] = [];
  const lookup: Lookup = (host, _options, callback) => {
    questions.push(host);
    const turns = answers[host];
    const addresses = turns && turns.length > 1 ? turns.shift() : turns?.[0];
    if (!addresses)
      return callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), []);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { lookup, questions };
}
const clients: OutboundClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));
function client(lookup?: Lookup, allowedNetworks: string[] = ['127.0.0.1/32']): OutboundClient {
  const made = new OutboundClient(new OutboundPolicy({ subject: 'Webhook', allowedNetworks }), {
    ...(lookup && { lookup }),
  });
  clients.push(made);
  return made;
}
const post = { method: 'POST' as const, body: '{}', timeoutMs: 5_000, maxBodyBytes: 1_000 };

it('a request is sent, and its status and body returned', async () => {
  const { lookup, questions } = names({ 'hook.test': [['127.0.0.1']] });
  const got = await client(lookup).request(`http://hook.test:${port}/in?a=1`, post);
  expect([got.status, got.body.toString()]).toEqual([200, 'hello']);
  expect(asked).toEqual([`POST hook.test:${port} /in?a=1`]);
  expect(questions).toEqual(['hook.test']);
});

it('a name that means another address when it is connected to than before is not reached', async () => {
  const { lookup } = names({ 'rebind.test': [['93.184.215.14'], ['127.0.0.1']] });
  await new Promise<void>((resolve) => lookup('rebind.test', { all: true }, () => resolve()));
  const refused = client(lookup, []).request(`http://rebind.test:${port}/`, post);
  await expect(refused).rejects.toMatchObject({
    name: 'OutboundRefusedError',
    message: 'Webhook host blocked: the name has no address that may be reached',
  });
  expect(asked).toEqual([]);
});

it.each([['10.0.0.1'], ['169.254.169.254'], ['::1'], ['::ffff:127.0.0.2'], ['64:ff9b::a00:1'], ['fe80::1%eth0']])(
  'a name that resolves to %s is refused, also when a public address is named beside it',
  async (address) => {
    const { lookup } = names({ 'mixed.test': [['93.184.215.14', address]] });
    await expect(client(lookup).request(`http://mixed.test:${port}/`, post)).rejects.toThrow('Webhook host blocked');
  },
);

it('an address in the URL is checked too, and nothing is connected', async () => {
  await expect(client(undefined, []).request(`http://127.0.0.1:${port}/`, post)).rejects.toThrow('localhost address');
  await expect(client(undefined, []).request(`http://0x7f.1:${port}/`, post)).rejects.toThrow('localhost address');
  expect(asked).toEqual([]);
});

it('a redirect is returned and not followed', async () => {
  answer = (_, res) => res.writeHead(307, { location: 'http://169.254.169.254/latest' }).end();
  const got = await client().request(`http://127.0.0.1:${port}/`, post);
  expect(got.status).toBe(307);
  expect(asked).toHaveLength(1);
});

it('no more of a body is read than requested, however much comes', async () => {
  answer = (_, res) => {
    res.on('error', () => undefined);
    const more = () => {
      while (!res.destroyed && res.write('x'.repeat(65_536)));
      if (!res.destroyed) res.once('drain', more);
    };
    more();
  };
  const got = await client().request(`http://127.0.0.1:${port}/`, post);
  expect(got.body.byteLength).toBe(1_000);
  const unread = await client().request(`http://127.0.0.1:${port}/`, { ...post, maxBodyBytes: 0 });
  expect(unread).toMatchObject({ status: 200, body: Buffer.alloc(0) });
});

it('a request fails after its time limit, even on a body that never ends', async () => {
  answer = () => undefined;
  await expect(client().request(`http://127.0.0.1:${port}/`, { ...post, timeoutMs: 50 })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  answer = (_, res) => void res.write('a');
  await expect(client().request(`http://127.0.0.1:${port}/`, { ...post, timeoutMs: 50 })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
});

it('the connection of an unread body that never ends is closed in time', async () => {
  const closed = new Promise<void>((resolve) => {
    answer = (_, res) => void res.once('close', resolve).write('a');
  });
  await client().request(`http://127.0.0.1:${port}/`, { ...post, maxBodyBytes: 0, timeoutMs: 200 });
  await closed;
});

it('the answer returns as soon as the status is known when no body is requested', async () => {
  answer = (_, res) => void res.write('a');
  const got = await client().request(`http://127.0.0.1:${port}/`, { ...post, maxBodyBytes: 0 });
  expect(got.status).toBe(200);
});

it('the error says when a name does not exist or nobody listens', async () => {
  await expect(client(names({}).lookup).request('http://nowhere.test/', post)).rejects.toMatchObject({
    code: 'ENOTFOUND',
  });
  await expect(client().request('http://127.0.0.1:1/', post)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('an answer of any size is passed on as it comes, and fails when no more data comes', async () => {
  const large = Buffer.alloc(300_000, 'x');
  answer = (_, res) => res.end(large);
  const url = `http://127.0.0.1:${port}/`;
  const { signal } = new AbortController();
  const got = await client().download(url, { idleMs: 5_000, signal });
  expect([got.status, await buffer(got.body)]).toEqual([200, large]);
  answer = (_, res) => void res.write('a');
  const silent = await client().download(url, { idleMs: 50, signal });
  await expect(buffer(silent.body)).rejects.toMatchObject({ code: 'UND_ERR_BODY_TIMEOUT' });
  await expect(client(undefined, []).download(url, { idleMs: 5_000, signal })).rejects.toThrow('localhost address');
});
