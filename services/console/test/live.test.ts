import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { readRequestBody, sendJson } from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OWN_SCRIPT, OWN_WRITE, startConsole, type TestConsole } from './start-console.ts';

const [WORKSPACE, DEPLOYMENT, THREAD] = [randomUUID(), randomUUID(), randomUUID()];
let running: TestConsole;
beforeAll(async () => {
  running = await startConsole();
});
afterAll(() => running?.close());

const open = (
  asked: object,
  { headers = OWN_WRITE as Record<string, string>, signal }: RequestInit & { headers?: Record<string, string> } = {},
) =>
  fetch(`${running.url}/live`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ runs: [], threads: [], ...asked }),
    ...(signal && { signal }),
  });

/** Reads events of the stream as they come. */
async function* eventsOf(answer: Response): AsyncGenerator<{ id: string; event: string; data: unknown }> {
  let text = '';
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const line = text.slice(0, end);
      text = text.slice(end + 2);
      if (!line.startsWith('data: ')) continue;
      const { id, event, data } = JSON.parse(line.slice(6)) as { id: string; event: string; data: string };
      yield { id, event, data: JSON.parse(data) };
    }
  }
}

it('sends all that a browser follows as one stream, each event with its name', async () => {
  const sources = new Map<string, ServerResponse>();
  const bodies: unknown[] = [];
  running.gateway.handle = async (req, res) => {
    if (req.method === 'POST') bodies.push(JSON.parse((await readRequestBody(req)).toString()));
    sources.set(req.url!, res);
    expect(req.headers['x-tenant-id']).toBe(WORKSPACE);
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': heartbeat\n\n');
  };
  const leaving = new AbortController();
  const thread = { id: 't', tenant_id: WORKSPACE, deployment_id: DEPLOYMENT, thread_id: THREAD };
  const asked = { runs: [WORKSPACE], threads: [{ ...thread, channels: ['tasks', 'lifecycle'], since: 7 }] };
  const events = eventsOf(await open(asked, { signal: leaving.signal }));
  const opened = [(await events.next()).value, (await events.next()).value];
  expect(new Set(opened.map((event) => event!.id))).toEqual(new Set(['t', `runs:${WORKSPACE}`]));
  const ofThread = sources.get(`/deployments/${DEPLOYMENT}/threads/${THREAD}/stream/events`)!;
  expect(bodies).toEqual([{ channels: ['tasks', 'lifecycle'], since: 7 }]);
  ofThread.write('event: tasks\ndata: {"seq":\ndata: 8}\n\n');
  expect((await events.next()).value).toEqual({ id: 't', event: 'tasks', data: { seq: 8 } });
  sources.get('/v2/runs/changes')!.write('event: runs_changed\ndata: {"deployment_ids":[]}\n\n');
  expect((await events.next()).value).toMatchObject({ id: `runs:${WORKSPACE}`, event: 'runs_changed' });
  ofThread.end();
  expect((await events.next()).value).toEqual({ id: 't', event: 'closed', data: { status: 200 } });
  const closed = once(sources.get('/v2/runs/changes')!, 'close');
  leaving.abort();
  await closed;
});

it('says of what a person may not see no more than that it is closed', async () => {
  running.gateway.handle = (_req, res) => sendJson(res, 404, { detail: 'Deployment not found' });
  const thread = { id: 't', tenant_id: WORKSPACE, deployment_id: DEPLOYMENT, thread_id: THREAD, channels: ['tasks'] };
  const events = eventsOf(await open({ threads: [thread] }));
  expect((await events.next()).value).toEqual({ id: 't', event: 'closed', data: { status: 404 } });
  expect((await events.next()).done).toBe(true);
});

it('goes on when a source that was refused has more to say, or breaks off', async () => {
  let isFirst = true;
  running.gateway.handle = (_req, res) => {
    res.writeHead(isFirst ? 403 : 200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
    if (!isFirst) setImmediate(() => res.destroy());
    isFirst = false;
  };
  for (const status of [403, 0]) {
    const events = eventsOf(await open({ runs: [WORKSPACE] }));
    const seen: unknown[] = [];
    for await (const event of events) seen.push(event);
    expect(seen.at(-1)).toEqual({ id: `runs:${WORKSPACE}`, event: 'closed', data: { status } });
  }
  expect((await fetch(`${running.url}/ok`)).status).toBe(200);
});

it('ends a source that sends a line without an end, and holds no more of it than an event may have', async () => {
  let sent = 0;
  running.gateway.handle = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: ');
    const more = () => {
      while (!res.destroyed && res.write('a'.repeat(65_536))) sent += 65_536;
      if (!res.destroyed) res.once('drain', more);
    };
    more();
  };
  const seen: unknown[] = [];
  for await (const { event } of eventsOf(await open({ runs: [WORKSPACE] }))) seen.push(event);
  expect(seen).toEqual(['open', 'closed']);
  expect(sent).toBeLessThan(20_000_000);
});

it('gives the events of all sources whole to a browser that reads slowly', async () => {
  const threads = Array.from({ length: 12 }, (_, index) => ({
    id: `t${index}`,
    tenant_id: WORKSPACE,
    deployment_id: DEPLOYMENT,
    thread_id: THREAD,
    channels: ['tasks'],
  }));
  const text = 'x'.repeat(200_000);
  running.gateway.handle = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify({ text })}\n\n`);
  };
  const whole: string[] = [];
  for await (const { id, event, data } of eventsOf(await open({ threads })))
    if (event === 'message') whole.push(`${id} ${(data as { text: string }).text === text}`);
  expect(whole.sort()).toEqual(threads.map(({ id }) => `${id} true`).sort());
});

it('holds nothing open for a session that has ended, or for nothing to follow', async () => {
  const { cookie } = OWN_WRITE;
  const ended = { ...OWN_WRITE, cookie: `${cookie.slice(0, -1)}x` };
  expect((await open({ runs: [WORKSPACE] }, { headers: ended })).status).toBe(401);
  expect((await open({})).status).toBe(400);
});

it('leaves room for others, however many one browser opens', async () => {
  running.gateway.handle = (_req, res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': \n\n');
  const leaving = new AbortController();
  const opened = await Promise.all(
    Array.from({ length: 40 }, () => open({ runs: [WORKSPACE] }, { signal: leaving.signal })),
  );
  const statuses = opened.map(({ status }) => status);
  expect([statuses.filter((status) => status === 200).length, statuses.includes(429)]).toEqual([32, true]);
  leaving.abort();
  await expect.poll(async () => (await open({ threads: [] })).status).toBe(400);
});

it('is for pages of the console with a session, and for no path that a page makes up', async () => {
  expect((await open({}, { headers: { ...OWN_SCRIPT, origin: 'https://evil.example' } })).status).toBe(403);
  const { cookie: _, ...stranger } = OWN_WRITE;
  expect((await open({}, { headers: stranger })).status).toBe(401);
  const thread = { id: 't', tenant_id: WORKSPACE, deployment_id: '../v2', thread_id: THREAD, channels: ['tasks'] };
  expect((await open({ threads: [thread] })).status).toBe(422);
  expect(
    (await open({ threads: Array.from({ length: 51 }, () => ({ ...thread, deployment_id: DEPLOYMENT })) })).status,
  ).toBe(422);
});
