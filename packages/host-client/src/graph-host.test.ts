import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startGraphHost } from './graph-host.ts';

const HELLO = { t: 'hello', protocol: 1, language: 'javascript', runtime: 'node' };

/** Starts a host that says hello, and answers each message of the parent with those that `replies` has for its type. */
async function startScriptedHost(replies: Record<string, object[]>, hello: object = HELLO) {
  const directory = await mkdtemp(join(tmpdir(), 'project-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'agent.ts'), '');
  const configPath = join(directory, 'langgraph.json');
  await writeFile(configPath, JSON.stringify({ graphs: { agent: './agent.ts:graph' } }));
  const script = `
    const socket = new (require('node:net').Socket)({ fd: 3 });
    const replies = ${JSON.stringify(replies)};
    const send = (header) => {
      const text = Buffer.from(JSON.stringify(header));
      const head = Buffer.alloc(12);
      [text.length + 8, 0, text.length].forEach((number, index) => head.writeUInt32BE(number, index * 4));
      socket.write(Buffer.concat([head, text]));
    };
    let read = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      read = Buffer.concat([read, bytes]);
      while (read.length >= 4 && read.length >= read.readUInt32BE(0) + 4) {
        const { t, id, use } = JSON.parse(read.toString('utf8', 12, 12 + read.readUInt32BE(8)));
        read = read.subarray(read.readUInt32BE(0) + 4);
        for (const reply of replies[t] ?? []) send({ id, use, ...reply });
      }
    });
    send(${JSON.stringify(hello)});
  `;
  const exits: string[] = [];
  const host = await startGraphHost({
    configPath,
    environment: {},
    host: { command: process.execPath, args: ['-e', script] },
    onLog: () => {},
    onExit: (reason) => exits.push(reason),
  });
  onTestFinished(() => host.close(0));
  return { host, exits };
}

const loaded = { t: 'answer', ok: [{ graphId: 'agent', isFactory: false }] };

it('a run is lost with its host when the host says in an unknown form how it has ended', async () => {
  const illFormed = { t: 'run.settled', kind: 'done', valuesBytes: 'two', interruptsBytes: null };
  const { host, exits } = await startScriptedHost({ init: [loaded], 'run.start': [illFormed] });
  const run = host.startRun({} as never, {} as never, { onEvents: () => {} });
  expect(await run.settled).toMatchObject({
    kind: 'lost',
    cause: 'exited',
    reason: expect.stringMatching(/^the graph host sent what is not the protocol: run\.settled .*valuesBytes/),
  });
  expect(exits).toEqual([expect.stringContaining('run.settled does not have the expected form')]);
});

it('a run that has ended has stopped once its host says so of the code that went on', async () => {
  const settled = { t: 'run.settled', kind: 'aborted', valuesBytes: null, interruptsBytes: null, isStillWorking: true };
  const ping = [
    { t: 'answer', ok: null },
    { t: 'run.stopped', use: 1 },
  ];
  const { host } = await startScriptedHost({ init: [loaded], 'run.start': [settled], ping });
  const run = host.startRun({} as never, {} as never, { onEvents: () => {} });
  const order: string[] = [];
  void run.stopped.then(() => order.push('stopped'));
  expect((await run.settled).kind).toBe('aborted');
  order.push('settled');
  await host.ping();
  await run.stopped;
  expect(order).toEqual(['settled', 'stopped']);
});

it('a schema that is a boolean reaches clients as an object that says the same', async () => {
  const text = { type: 'object', properties: { text: true } };
  const schemas = { state_schema: text, input_schema: true, output_schema: false };
  const unknown = { config_schema: null, context_schema: null };
  const { host } = await startScriptedHost({
    init: [loaded],
    'graph.schemas': [{ t: 'answer', ok: { ...schemas, ...unknown } }],
    'graph.subgraphs': [{ t: 'answer', ok: { inner: { ...schemas, ...unknown } } }],
  });
  const expected = { state_schema: text, input_schema: {}, output_schema: { not: {} }, ...unknown };
  expect(await host.getSchemas({} as never)).toEqual(expected);
  expect(await host.getSubgraphs({} as never)).toEqual({ inner: expected });
});

it('a project does not load in a host of another version, and the error names both', async () => {
  const hello = { ...HELLO, protocol: 7, protocols: [7, 8] };
  await expect(startScriptedHost({}, hello)).rejects.toThrow('speaks protocol 7, 8, not 1');
});

const hanging = { onEvents: () => new Promise<void>(() => {}) };
const events = (...bytes: number[]) => ({
  t: 'run.events',
  events: bytes.map((length) => ['values', 'values', length]),
});

it('a host that sends events of a run for which it has no credit is ended', async () => {
  const { host, exits } = await startScriptedHost({ init: [loaded], 'run.start': [events(2 ** 20), events(1)] });
  const run = host.startRun({} as never, {} as never, hanging);
  const reason = 'the graph host sent events of a run for which it had no credit';
  expect(await run.settled).toEqual({ kind: 'lost', cause: 'exited', reason });
  expect(exits).toEqual(['sent events of a run for which it had no credit']);
});

it('events without bytes, which would take no credit, are not the protocol', async () => {
  const { host } = await startScriptedHost({ init: [loaded], 'run.start': [events(0)] });
  const run = host.startRun({} as never, {} as never, hanging);
  expect(await run.settled).toMatchObject({ kind: 'lost', reason: expect.stringContaining('run.events') });
});

it('a host may send one event of any size while a run has credit left, and more when it is given some', async () => {
  const settled = { t: 'run.settled', kind: 'done', valuesBytes: null, interruptsBytes: null };
  const start = [events(2 ** 20 - 1, 2 ** 25)];
  const { host } = await startScriptedHost({ init: [loaded], 'run.start': start, 'run.credit': [events(1), settled] });
  const lengths: number[] = [];
  const run = host.startRun({} as never, {} as never, { onEvents: (delivered) => void lengths.push(delivered.length) });
  expect((await run.settled).kind).toBe('done');
  expect(lengths.slice(0, 2)).toEqual([2, 1]);
});
