/** Lists what every graph host must do, as it is seen on the wire. */
import { deepStrictEqual as equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { RemoteError } from '../connection.ts';
import type { ErrorBody, ToParent } from '../messages/messages.ts';
import { chooseVersion } from '../versions.ts';
import { eventsIn, type HostUnderTest, TestedHost } from './tested-host.ts';

/** `first`: what a new host does first. `rest`: the rest of what runs and states need. */
type Part = 'first' | 'rest';

export interface HostCase {
  part: Part;
  /** A sentence about the host. */
  name: string;
  check(host: TestedHost, about: HostUnderTest): Promise<void>;
}

const first = (name: string, check: HostCase['check']): HostCase => ({ part: 'first', name, check });
const rest = (name: string, check: HostCase['check']): HostCase => ({ part: 'rest', name, check });

export const hostCases: HostCase[] = [
  first('says hello first, in a version that its parent speaks', async (host) => {
    const hello = await host.hello();
    equal(hello.t, 'hello');
    ok(chooseVersion(hello) !== undefined, `it speaks ${hello.protocols ?? hello.protocol}`);
  }),

  first('loads the graphs of a project, in their order', async (host) => {
    const graphs = await host.load();
    equal(
      graphs.slice(0, 2).map(({ graphId, isFactory }) => ({ graphId, isFactory })),
      [
        { graphId: 'echo', isFactory: false },
        { graphId: 'count', isFactory: false },
      ],
    );
  }),

  first('names the graph that does not load', async (host, { project }) => {
    const graphs = [{ graphId: 'absent', file: `${project}/absent.file`, symbol: 'graph' }];
    const error = await errorOf(host.load({ graphs }));
    equal([error.kind, error.graphId], ['load', 'absent']);
  }),

  first('answers a ping, and a request that it does not know with `unsupported`', async (host) => {
    await host.load();
    equal((await host.connection.request(0, { t: 'ping' })).ok, null);
    equal((await errorOf(host.connection.request(0, { t: 'graph.teleport' }))).kind, 'unsupported');
  }),

  first('runs a graph without checkpoints, and asks for none', async (host) => {
    await host.load();
    const { use, header, values, events } = await host.run('echo', { input: { text: 'ink' } }, false);
    equal(header.kind, 'done');
    equal(values, { text: 'echo ink' });
    equal(events.at(-1), { mode: 'values', event: 'values', data: { text: 'echo ink' } });
    ok(host.find('run.begun', use), 'run.begun was not sent');
    equal(
      host.received.filter(({ header: { t } }) => t.startsWith('checkpoint.')).map(({ header: { t } }) => t),
      [],
    );
  }),

  first('puts a chain of checkpoints, all of them before it says that the run has ended', async (host) => {
    await host.load();
    const threadId = randomUUID();
    const { use, header, values } = await host.run('count', { threadId, isThreadNew: true, input: { count: 0 } });
    equal(values, { count: 3 });
    const { puts } = host.storage;
    ok(puts.length > 0, 'nothing was put');
    for (const [index, { key, parentCheckpointId }] of puts.entries()) {
      equal([key.threadId, key.namespace], [threadId, '']);
      equal(parentCheckpointId, puts[index - 1]?.key.checkpointId);
      ok(index === 0 || puts[index - 1]!.key.checkpointId < key.checkpointId, 'ids of checkpoints do not grow');
    }
    equal(header.checkpointId, puts.at(-1)?.key.checkpointId);
    const ofRun = host.received.filter((message) => message.header.use === use);
    equal(ofRun.at(-1)?.header.t, 'run.settled');
  }),

  first('goes on with the state of the thread, in another process too', async (host, about) => {
    await host.load();
    const threadId = randomUUID();
    await host.run('count', { threadId, isThreadNew: true, input: { count: 0 } });
    equal((await host.run('count', { threadId, input: {} })).values, { count: 6 });
    await withHost(about, host.storage, async (later) => {
      await later.load();
      equal((await later.run('count', { threadId, input: {} })).values, { count: 9 });
    });
  }),

  first('runs many runs at the same time, and keeps them apart', async (host) => {
    await host.load();
    const texts = Array.from({ length: 20 }, (_, index) => `ink ${index}`);
    const runs = await Promise.all(texts.map((text) => host.run('echo', { input: { text } })));
    equal(
      runs.map(({ values }) => values),
      texts.map((text) => ({ text: `echo ${text}` })),
    );
  }),

  first('carries values of megabytes, in pieces', async (host) => {
    await host.load();
    const text = 'grüße '.repeat(300_000);
    equal((await host.run('echo', { input: { text } })).values, { text: `echo ${text}` });
  }),

  first('fails a run of a graph that the project does not have', async (host) => {
    await host.load();
    const { header } = await host.run('nobody');
    equal([header.kind, header.error?.kind], ['failed', 'not_found']);
  }),

  first('ends when it is asked to', async (host) => {
    await host.load();
    equal((await host.connection.request(0, { t: 'shutdown' })).ok, null);
    equal(await host.exited, 0);
  }),

  first('ends when its parent has gone', async (host) => {
    await host.load();
    host.connection.close('the suite has gone');
    await host.exited;
  }),

  rest('says what a graph has thrown', async (host) => {
    await host.load();
    const { header } = await host.run('boom', { input: { text: '' } });
    equal([header.kind, header.error?.error, header.error?.message], ['failed', 'BoomError', 'no luck']);
  }),

  rest('logs what a graph has thrown for its author, with its place, and says of which run', async (host) => {
    await host.load();
    const runId = randomUUID();
    await host.run('boom', { runId, input: { text: '' } });
    const lines = host.received.map(({ header }) => header as ToParent['log']).filter(({ t }) => t === 'log');
    const [line, ...others] = lines.filter((each) => each.runId === runId);
    equal([line?.level, line?.graphId, others], ['error', 'boom', []]);
    ok(/^The run failed: BoomError: no luck\n[\s\S]*(:|line )\d+/.test(line?.message ?? ''), line?.message);
  }),

  rest('asks, and goes on with the answer', async (host) => {
    await host.load();
    const threadId = randomUUID();
    const asked = await host.run('ask', { threadId, isThreadNew: true, input: { text: 'ink' } });
    equal([asked.header.kind, asked.header.next], ['done', ['ask']]);
    const [interrupts] = Object.values(asked.interrupts as Record<string, { id: string; value: unknown }[]>);
    equal(
      interrupts?.map(({ value }) => value),
      ['Send it?'],
    );
    const answered = await host.run('ask', { threadId, command: { resume: 'yes' } });
    equal(answered.values, { text: 'ink: yes' });
  }),

  rest('stops a run when it is told to', async (host) => {
    await host.load();
    const use = host.start('wait', { input: { text: '' } });
    await host.until('run.begun', () => host.find('run.begun', use));
    host.connection.send(use, { t: 'run.abort', use, reason: 'the client has gone' });
    equal((await host.finish(use)).header.kind, 'aborted');
  }),

  rest('sends no more events than it has credit for', async (host) => {
    host.givesCredit = false;
    await host.load({ limits: { creditBytes: 1 } });
    const use = host.start('count', { input: { count: 0 } });
    await host.until('events', () => host.find('run.events', use));
    equal((await host.connection.request(0, { t: 'ping' })).ok, null);
    const sent = () => host.received.filter(({ header: { t } }) => t === 'run.events').flatMap(eventsIn).length;
    equal(sent(), 1);
    host.connection.send(use, { t: 'run.credit', use, bytes: 2 ** 20 });
    const { events } = await host.finish(use);
    equal(events.at(-1)?.data, { count: 3 });
  }),

  rest('sends the put of a checkpoint before the event about it', async (host) => {
    await host.load();
    const { use } = await host.run('count', { input: { count: 0 }, streamModes: ['checkpoints'] });
    const put = new Set<string>();
    let told = 0;
    for (const message of host.received.filter(({ header }) => header.use === use)) {
      const { header } = message;
      if (header.t === 'checkpoint.put')
        put.add((header as unknown as ToParent['checkpoint.put']).put.key.checkpointId);
      if (header.t !== 'run.events') continue;
      for (const { data } of eventsIn(message)) {
        const id = (data as { config: { configurable: { checkpoint_id: string } } }).config.configurable.checkpoint_id;
        ok(put.has(id), `the event of checkpoint ${id} came before its put`);
        told += 1;
      }
    }
    ok(told > 0, 'no event of a checkpoint was sent');
  }),

  rest('goes on, in a later attempt, from the checkpoints of the earlier one', async (host, about) => {
    await host.load();
    const request = { runId: randomUUID(), threadId: randomUUID(), input: { count: 0 } };
    const { storage } = host;
    storage.putsMax = 2;
    host.start('count', { ...request, isThreadNew: true });
    await host.until('two puts', () => (storage.puts.length === 2 ? true : undefined));
    host.kill();
    await host.exited;
    storage.putsMax = Number.POSITIVE_INFINITY;
    await withHost(about, storage, async (later) => {
      await later.load();
      equal((await later.run('count', { ...request, attempt: 2 })).values, { count: 3 });
      const putsInAll = storage.puts.length;
      await later.run('count', { isThreadNew: true, input: { count: 0 } });
      equal(putsInAll, storage.puts.length - putsInAll, 'the later attempt has put again what was there');
    });
  }),

  rest('stops, in a later attempt, at the breakpoint that the earlier one has reached', async (host) => {
    await host.load();
    const stops = [{ interruptBefore: ['second'] }, { interruptAfter: ['first'] }, { interruptBefore: '*' as const }];
    for (const stop of stops) {
      const threadId = randomUUID();
      const request = { runId: randomUUID(), threadId, input: { count: 0 }, ...stop };
      const { header: reached, values } = await host.run('count', { ...request, isThreadNew: true });
      equal(reached.next?.length, 1, `there is no breakpoint at ${JSON.stringify(stop)}`);
      const putsBefore = host.storage.puts.length;
      // Its end was lost, and nobody has seen the breakpoint.
      const later = await host.run('count', { ...request, attempt: 2 });
      equal([later.header.kind, later.header.next, later.values], ['done', reached.next, values]);
      equal(host.storage.puts.length, putsBefore, 'the later attempt went on');
      // Clients that have seen it go on without an input.
      equal((await host.run('count', { threadId, input: null })).header.next, []);
    }
  }),

  rest('names the tools of a graph and of the graphs inside of it, each once', async (host) => {
    await host.load();
    const toolsOf = async (graphId: string) => {
      const request = { graphId, config: { configurable: {} } };
      return (await host.connection.request(0, { t: 'graph.tools', request })).ok;
    };
    equal(await toolsOf('tools'), ['add', 'search']);
    equal(await toolsOf('echo'), []);
    equal(await errorOf(toolsOf('nobody')).then(({ kind }) => kind), 'not_found');
  }),

  rest('reads, lists and updates the state of a thread', async (host) => {
    await host.load();
    const threadId = randomUUID();
    await host.run('count', { threadId, isThreadNew: true, input: { count: 0 } });
    const ask = async (t: string, use: number, more: object = {}) =>
      host.connection.request(use, { t, use, request: { graphId: 'count', threadId, ...more } });
    const valuesIn = (states: { state: [string, number]; values: [string, number] }[], raw: Buffer) =>
      JSON.parse(raw.toString('utf8', states[0]!.state[1], states[0]!.state[1] + states[0]!.values[1])) as unknown;
    const read = await ask('state.get', 101);
    equal(valuesIn(read.ok as never, read.raw), { count: 3 });
    const history = await ask('state.history', 102, { limit: 2 });
    equal((history.ok as unknown[]).length, 2);
    await ask('state.update', 103, { values: { count: 40 }, asNode: 'third' });
    const updated = await ask('state.get', 104);
    equal(valuesIn(updated.ok as never, updated.raw), { count: 40 });
  }),
];

/** Starts a host for a case, and ends it whatever happens. */
export async function checkCase({ check }: HostCase, about: HostUnderTest): Promise<void> {
  await withHost(about, undefined, (host) => check(host, about));
}

async function withHost(
  about: HostUnderTest,
  storage: TestedHost['storage'] | undefined,
  work: (host: TestedHost) => Promise<void>,
): Promise<void> {
  const host = new TestedHost(about, storage);
  try {
    await work(host);
  } finally {
    host.kill();
    await host.exited;
  }
}

async function errorOf(promise: Promise<unknown>): Promise<Pick<ErrorBody, 'kind' | 'graphId'>> {
  const error: unknown = await promise.then(
    () => undefined,
    (cause) => cause,
  );
  if (!(error instanceof RemoteError)) throw error ?? new Error('it was answered without an error');
  return error;
}
