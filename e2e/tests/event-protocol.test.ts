import { once } from 'node:events';
import { Client } from '@langchain/langgraph-sdk';
import { expect, inject, it } from 'vitest';
import { WebSocket } from 'ws';
import { newClient } from '../harness/client.ts';

const client = newClient();
const says = (content: string) => ({ messages: [{ role: 'user', content }] });

type Thread = ReturnType<typeof client.threads.stream>;
type Event = Parameters<Parameters<Thread['onEvent']>[0]>[0];

/** Returns all events of a run that starts now, as a client of the official SDK gets them. */
async function eventsOfRun(thread: Thread, input: unknown): Promise<Event[]> {
  const events: Event[] = [];
  const ended = new Promise<void>((resolve) => {
    // It is called once for each event, however many subscriptions bring it.
    const forget = thread.onEvent((event) => {
      events.push(event);
      if (!isEnd(event)) return;
      forget();
      resolve();
    });
  });
  await thread.subscribe(['values', 'lifecycle', 'custom']);
  await thread.run.start({ input });
  await ended;
  return events;
}

function isEnd({ method, params }: Event): boolean {
  return method === 'lifecycle' && params.namespace.length === 0 && params.data.event !== 'running';
}

it('ThreadStream streams messages, values and custom events of a run, and another run on the same streams', async () => {
  const thread = client.threads.stream({ assistantId: 'chat' });
  const texts: string[] = [];
  const reading = (async () => {
    for await (const message of thread.messages) texts.push(await message.text);
  })();
  const { run_id } = await thread.run.start({ input: says('hi') });
  const values = (await thread.output) as { messages: { text: string }[] };
  await reading;
  const answer = 'The quick brown fox jumps over the lazy dog.';
  expect(values.messages.map(({ text }) => text)).toEqual(['hi', answer]);
  expect(texts).toContain(answer);
  const { tree } = await thread.agent.getTree({ run_id: run_id! });
  expect(tree).toMatchObject({ status: 'completed', graph_name: 'chat', children: [{ graph_name: 'talk' }] });

  const second = await eventsOfRun(thread, says('again'));
  expect(second.filter(isEnd)).toHaveLength(1);
  const state = (await thread.state.get({ namespace: [] })) as { values: { messages: unknown[] } };
  expect(state.values.messages).toHaveLength(4);
  await thread.close();
});

it('ThreadStream answers an interrupt, and forks from where it was asked', async () => {
  const thread = client.threads.stream({ assistantId: 'approval' });
  await thread.run.start({ input: { request: 'sing' } });
  await thread.output;
  expect(thread.interrupted).toBe(true);
  const [asked] = thread.interrupts;
  expect(asked).toMatchObject({ payload: { question: 'May I sing?' } });
  const { checkpoints } = await thread.state.listCheckpoints({ limit: 1 });
  const lifecycle = await thread.subscribe('lifecycle');
  await thread.input.respond({ namespace: [], interrupt_id: asked!.interruptId, response: 'yes' });
  for await (const event of lifecycle as AsyncIterable<Event>) if (isEnd(event) && isCompleted(event)) break;
  const after = (await thread.state.get({ namespace: [] })) as { values: { log: string[] } };
  expect(after.values.log).toEqual(['prepared sing', 'heard yes', 'did sing']);
  const forked = await thread.state.fork({ checkpoint_id: checkpoints[0]!.id });
  expect(forked).toMatchObject({ thread_id: thread.threadId });
  await client.runs.join(thread.threadId, forked.run_id);
  expect(await client.threads.get(thread.threadId)).toMatchObject({ status: 'interrupted' });
  await thread.close();
});

function isCompleted(event: Event): boolean {
  return event.method === 'lifecycle' && event.params.data.event === 'completed';
}

it('a client whose connections are cut again and again gets every event once', async () => {
  let connections = 0;
  const cutting = newClient();
  const thread = cutting.threads.stream({
    assistantId: 'slow',
    reconnectDelayMs: () => 0,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!String(input).endsWith('/stream/events')) return response;
      connections += 1;
      return connections > 20 ? response : cutAfter(response, 2 * connections);
    },
  });
  const events = await eventsOfRun(thread, { name: 'cut', steps: 20, stepMs: 5 });
  await thread.close();
  expect(connections).toBeGreaterThan(5);

  const whole = client.threads.stream(thread.threadId, { assistantId: 'slow' });
  const kept: Event[] = [];
  whole.onEvent((event) => kept.push(event));
  const subscription = await whole.subscribe(['values', 'lifecycle', 'custom']);
  for await (const event of subscription as AsyncIterable<Event>) if (isEnd(event)) break;
  await whole.close();
  const wanted = new Set(['values', 'lifecycle', 'custom']);
  const ids = (of: Event[]) => of.filter(({ method }) => wanted.has(method)).map(({ event_id }) => event_id);
  expect(ids(kept).length).toBeGreaterThan(20);
  expect(ids(events)).toEqual(ids(kept));
});

/** Breaks the body of an answer off after so many events. */
function cutAfter(response: Response, events: number): Response {
  let left = events;
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= new TextDecoder().decode(chunk).split('event: ').length - 1;
      controller.enqueue(chunk);
      if (left <= 0) controller.error(new Error('the connection was cut'));
    },
  });
  return new Response(response.body!.pipeThrough(cut), response);
}

it('ThreadStream works over a websocket through the gateway, and again after it was cut', async () => {
  const { deploymentUrl, apiKey } = inject('platform');
  const sockets: WebSocket[] = [];
  const open = (url: string) => {
    const socket = new WebSocket(url, { headers: { 'x-api-key': apiKey } });
    sockets.push(socket);
    return socket as unknown as globalThis.WebSocket;
  };
  // Headers of the client itself are for browsers, which cannot send any.
  const thread = new Client({ apiUrl: deploymentUrl, apiKey: null }).threads.stream({
    assistantId: 'chat',
    transport: 'websocket',
    webSocketFactory: open,
    reconnectDelayMs: () => 0,
  });
  const first = await eventsOfRun(thread, says('hi'));
  expect(first.map(({ method }) => method)).toContain('values');
  sockets[0]!.terminate();
  await once(sockets[0]!, 'close');
  const second = await eventsOfRun(thread, says('again'));
  expect(second.filter(isEnd)).toHaveLength(1);
  expect(sockets).toHaveLength(2);
  await thread.close();
});
