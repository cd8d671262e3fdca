import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { InterruptedError } from '../src/cli-error.ts';
import { toPlainText } from '../src/output/plain-text.ts';
import { summarize } from '../src/output/summary.ts';
import { FakeAgentServer } from './support/agent-server.ts';
import { folderWith, removeFolders, runyard } from './support/command.ts';
import { API_KEY, FakeControlPlaneApi } from './support/control-plane.ts';

afterAll(removeFolders);

describe('the agent server that is meant', () => {
  let platform: FakeControlPlaneApi;
  let server: FakeAgentServer;
  beforeEach(async () => {
    [platform, server] = await Promise.all([new FakeControlPlaneApi().open(), new FakeAgentServer().open()]);
    server.addThread({}, '01a1c7de-8c1b-7c3e-9d52-0a4c8d7e1f20');
  });
  afterEach(async () => {
    expect(platform.violations).toEqual([]);
    await Promise.all([platform.close(), server.close()]);
  });

  const deploy = (name: string, url = server.url) =>
    platform.addDeployment(name, {
      source_config: { deployment_type: 'dev', custom_url: url, listener_id: randomUUID() },
    });
  const list = (args: string[] = [], cwd = folderWith('agent', {})) =>
    runyard(['threads', 'list', ...args], { cwd, env: { RUNYARD_URL: platform.url, RUNYARD_API_KEY: API_KEY } });

  it("is the deployment of the folder's name, by its variable too, else the only one", async () => {
    deploy('other');
    expect((await list()).out).toContain('01a1c7de');
    deploy('elsewhere', 'http://127.0.0.1:1');
    expect((await list(['--deployment', 'other'])).out).toContain('01a1c7de');
    deploy('agent');
    expect((await list()).out).toContain('01a1c7de');
    deploy('named');
    const named = folderWith('elsewhere', { '.env': 'RUNYARD_DEPLOYMENT_NAME=named\n' });
    expect((await list([], named)).out).toContain('01a1c7de');
  });

  it('gets a key that was found only where the platform itself is', async () => {
    const keys = new Set<unknown>();
    server.intercept = ({ headers }) => void keys.add(headers['x-api-key']);
    deploy('agent');
    await list();
    expect(keys).toEqual(new Set([undefined]));
    await list(['--api-key', API_KEY]);
    expect(keys).toEqual(new Set([undefined, API_KEY]));
    keys.clear();
    // One of the platform's own is asked for there, whichever address somebody gave it.
    platform.addDeployment('own', { source_config: { deployment_type: 'dev', custom_url: server.url } });
    await list(['--deployment', 'own']);
    expect(keys.size).toBe(0);
    expect(platform.violations.splice(0)).toEqual([expect.stringMatching(/^POST \/deployments\/.*\/threads\/search/)]);
  });

  it('is asked for by name where there are several, and is not another one than a variable names', async () => {
    deploy('one');
    const env = folderWith('agent', { '.env': 'RUNYARD_DEPLOYMENT_NAME=missing\n' });
    expect(await list([], env)).toMatchObject({ exitCode: 4, err: expect.stringContaining('no deployment missing') });
    deploy('two');
    expect(await list()).toMatchObject({
      exitCode: 4,
      err: 'There is no deployment agent: name one with --deployment (one, two), or a server with --url.\n',
    });
  });

  it('may be any server by its URL, and no two at once', async () => {
    expect((await list(['--url', server.url])).out).toContain('01a1c7de');
    expect(await list(['--url', server.url, '--deployment', 'x'])).toMatchObject({ exitCode: 2 });
    expect(await list(['--url', 'ftp://x'])).toMatchObject({ exitCode: 2 });
  });

  it('is asked for no more threads than wanted, and pages for many', async () => {
    for (let count = 0; count < 250; count += 1) server.addThread();
    const asked: unknown[] = [];
    server.intercept = ({ body }) => void asked.push([body.limit, body.offset]);
    expect((await list(['--url', server.url, '--json', '--limit', '7'])).events()).toHaveLength(7);
    expect((await list(['--url', server.url, '--json', '--limit', '240'])).events()).toHaveLength(240);
    expect(asked).toEqual([
      [7, 0],
      [100, 0],
      [100, 100],
      [100, 200],
    ]);
  });

  it('takes filters by metadata, as text or as JSON', async () => {
    const asked: unknown[] = [];
    server.intercept = ({ body }) => void asked.push(body.metadata);
    await list(['--url', server.url, '--metadata', 'owner=ada', '--metadata', 'tries=3', '--metadata', 'id="7"']);
    expect(asked[0]).toEqual({ owner: 'ada', tries: 3, id: '7' });
    expect(await list(['--metadata', 'owner'])).toMatchObject({ exitCode: 2 });
  });

  it('is not asked about an id that would lead elsewhere', async () => {
    for (const args of [
      ['threads', 'show', '../assistants'],
      ['runs', 'tail', randomUUID(), '..'],
    ]) {
      const ended = await runyard([...args, '--url', server.url]);
      expect(ended).toMatchObject({ exitCode: 2, err: expect.stringContaining('It is a UUID.') });
    }
  });
});

describe('text of others', () => {
  it('reaches a terminal without what the terminal would obey', async () => {
    expect(toPlainText('a\u001b]0;title\u0007b\u009b31mc\r\nd\u202ee')).toBe('abc \nd e');
    const server = await new FakeAgentServer().open();
    onTestFinished(() => server.close());
    server.intercept = () => ({ status: 500, body: { detail: 'no\u001b[2J \u0007way' } });
    const ended = await runyard(['threads', 'list', '--url', server.url]);
    expect(ended.err).toMatch(/no {2,}way\n$/);
    server.intercept = () => undefined;
    server.addThread({ metadata: { name: 'c1 \u009b2J' } });
    const listed = await runyard(['threads', 'list', '--json', '--url', server.url]);
    expect(listed.out).toContain('c1 \\u009b2J');
    expect(listed.events()[0]?.metadata).toEqual({ name: 'c1 \u009b2J' });
  });

  it.each([
    [{ messages: [1, { type: 'ai', id: 'm', content: 'It rains.' }] }, '{messages: [1 more, ai "It rains."]}'],
    [
      { type: 'ai', id: 'm', content: '', tool_calls: [{ name: 'weather', args: { city: 'Ulm' } }] },
      'ai calls weather({city: "Ulm"})',
    ],
    [{ a: { b: { c: { d: { e: 1 } } } } }, '{a: {b: {c: {d: {…}}}}}'],
    [null, 'null'],
  ])('is shortened to what says most: %j', (value, expected) => {
    expect(summarize(value, 100)).toBe(expected);
  });

  it('is cut to the width, however large it is', () => {
    const line = summarize(
      Array.from({ length: 100 }, () => 'x'.repeat(1_000_000)),
      40,
    );
    expect([line.length, line.at(-1)]).toEqual([40, '…']);
  });
});

describe('runs tail over a broken connection', () => {
  const threadId = randomUUID();
  const runId = randomUUID();
  const path = `/threads/${threadId}/runs/${runId}`;
  type Answer = (res: ServerResponse) => void;

  /** Starts a server with one run, which has ended when the last of the answers was given. */
  async function startServer(answers: Answer[], status = 'success') {
    const positions: (string | undefined)[] = [];
    const answer = (req: IncomingMessage, res: ServerResponse) => {
      if (req.url?.startsWith(`${path}/stream`)) {
        positions.push(req.headers['last-event-id'] as string | undefined);
        answers.shift()?.(res);
        return;
      }
      const isRun = req.url === path;
      const run = { run_id: runId, thread_id: threadId, assistant_id: randomUUID() };
      const body = isRun ? { ...run, status: answers.length > 0 ? 'running' : status } : { status: 'idle' };
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      positions,
      tail: (options = {}) => runyard(['runs', 'tail', threadId, runId, '--json', '--url', url], options),
    };
  }

  const send = (res: ServerResponse, text: string) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(text);
    return res;
  };
  const breaking = (text: string) => (res: ServerResponse) =>
    void setImmediate(() => send(res, text).write(': heartbeat\r\n\r\n', () => res.destroy()));
  const ending = (text: string) => (res: ServerResponse) => void send(res, text).end();
  const event = (id: string, data: string) => `event: values\r\ndata: ${data}\r\n${id && `id: ${id}\r\n`}\r\n`;

  it('goes on after the last event, and shows each once', async () => {
    const { positions, tail } = await startServer([
      breaking(event('1-0', '{"n":1}') + event('2-0', '{"n":2}')),
      (res) => void res.writeHead(503).end('{"detail":"restarting"}'),
      ending(event('3-0', '{"n":3}')),
    ]);
    const ended = await tail();
    expect(ended.exitCode, ended.err).toBe(0);
    expect(ended.events().map(({ data, status }) => data?.n ?? status)).toEqual([1, 2, 3, 'success']);
    expect(positions).toEqual(['-1', '2-0', '2-0']);
    expect(ended.err).toMatch(/^GET .*\/stream .* followed again as soon as that works\.\n/);
  });

  it('shows no event twice where they have no ids, and says that some may be missing', async () => {
    const { positions, tail } = await startServer([breaking(event('', '1')), ending(event('', '2'))], 'error');
    const ended = await tail();
    expect(ended.exitCode).toBe(1);
    expect(positions).toEqual(['-1', undefined]);
    expect(ended.err).toContain('those of the meantime are not shown');
  });

  it('ends when it is interrupted while the server is away', async () => {
    const interrupted = new AbortController();
    const away: Answer = (res) => {
      res.writeHead(503).end('{"detail":"away"}');
      interrupted.abort(new InterruptedError('SIGINT'));
    };
    const { tail } = await startServer([away, away]);
    const ended = await tail({ interrupted: interrupted.signal });
    expect(ended).toMatchObject({
      exitCode: 130,
      err: expect.stringContaining('The run goes on without this command'),
    });
  });

  it('refuses what the server refuses', async () => {
    const { tail } = await startServer([(res) => void res.writeHead(403).end('{"detail":"not yours"}'), ending('')]);
    const ended = await tail();
    expect(ended.exitCode).toBe(3);
    expect(ended.events().at(-1)).toMatchObject({ event: 'error', message: expect.stringContaining('not yours') });
  });

  it('passes data on as they are, one line each, without what a terminal obeys', async () => {
    const odd =
      'event: values\ndata: {"n": 12345678901234567890,\ndata:  "t": "\u009b2J\u007f"}\n\nevent: x\ndata: no json\n\n';
    const { tail } = await startServer([ending(odd)]);
    const { out } = await tail();
    expect(out.split('\n').slice(0, 2)).toEqual([
      '{"event":"run_event","name":"values","data":{"n": 12345678901234567890,  "t": "\\u009b2J\\u007f"}}',
      '{"event":"run_event","name":"x","data":"no json"}',
    ]);
  });
});

describe('runs cancel', () => {
  it('says that a run ended at the same moment, and when the cancellation takes too long', async () => {
    const server = await new FakeAgentServer().open();
    onTestFinished(() => server.close());
    const [threadId, runId] = [randomUUID(), randomUUID()];
    let status = 'running';
    let canCancel = true;
    server.intercept = ({ method }) => {
      if (method === 'GET') return { status: 200, body: { run_id: runId, assistant_id: 'a', status } };
      if (canCancel) return { status: 202 };
      status = 'success';
      return { status: 404, body: { detail: 'No runs found to cancel.' } };
    };
    const cancel = () => runyard(['runs', 'cancel', threadId, runId, '--wait', '--timeout', '1', '--url', server.url]);
    expect(await cancel()).toMatchObject({ exitCode: 6, err: expect.stringContaining('its cancellation goes on') });
    canCancel = false;
    expect(await cancel()).toMatchObject({ exitCode: 1, err: 'The run has ended already: success.\n' });
  });
});

it('runs tail chooses the run that runs, else the newest, however the server sorts them', async () => {
  const server = await new FakeAgentServer().open();
  onTestFinished(() => server.close());
  const run = (minute: number, status: string) => ({
    run_id: randomUUID(),
    assistant_id: 'a',
    status,
    created_at: `2026-11-30T00:0${minute}:00Z`,
  });
  const runs = [run(1, 'success'), run(2, 'error'), run(3, 'success')];
  const chosen: string[] = [];
  server.intercept = ({ path }) => {
    if (path.endsWith('/runs')) return { status: 200, body: runs };
    if (path.endsWith('/stream')) return { status: 200 };
    const found = runs.find(({ run_id: id }) => path.endsWith(id));
    if (found) chosen.push(found.run_id);
    return { status: 200, body: found ? { ...found, status: 'success' } : {} };
  };
  const tail = () => runyard(['runs', 'tail', randomUUID(), '--url', server.url]);
  expect((await tail()).exitCode).toBe(0);
  expect(new Set(chosen.splice(0))).toEqual(new Set([runs[2]?.run_id]));
  runs[0]!.status = 'running';
  await tail();
  expect(new Set(chosen)).toEqual(new Set([runs[0]?.run_id]));
});
