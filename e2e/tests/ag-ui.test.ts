import { randomUUID } from 'node:crypto';
import { HttpAgent, type Message } from '@ag-ui/client';
import { HttpAgent as EarlierHttpAgent } from 'ag-ui-client-0';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { newClient } from '../harness/client.ts';
import { type HeldRequests, holdRequests } from '../harness/held-requests.ts';

const client = newClient();
const PICK_COLOUR = {
  name: 'pick_colour',
  description: 'The user picks a colour.',
  parameters: { type: 'object', properties: { among: { type: 'array', items: { type: 'string' } } } },
};

interface SentEvent {
  type: string;
  [field: string]: unknown;
}

const user = (content: string): Message => ({ id: randomUUID(), role: 'user', content });
const urlOf = (assistant: string) => `${inject('platform').deploymentUrl}/agui/${assistant}`;
const headers = () => ({ 'x-api-key': inject('platform').apiKey });
const contentsOf = (messages: Message[]) => messages.map(({ content }) => content);

/** Expects that a client has the state and the messages of its thread. */
async function expectThreadOf({ threadId, state, messages }: HttpAgent): Promise<void> {
  const { values } = await client.threads.getState<{ messages: { id: string }[] }>(threadId);
  const { messages: kept, ...keptState } = values;
  expect(state).toEqual(keptState);
  expect(messages.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
}

/** Returns an address that a graph waits for in the middle of its text. */
async function holdText(): Promise<HeldRequests> {
  const held = await holdRequests();
  onTestFinished(() => held.close());
  return held;
}

const clients: [string, typeof HttpAgent][] = [
  ['1.0', HttpAgent],
  // The one of CopilotKit. What is used of it here has the same types.
  ['0.0.59', EarlierHttpAgent as unknown as typeof HttpAgent],
];

describe.each(clients)('HttpAgent %s', (_, Agent) => {
  /** Creates a client for an assistant, and collects the events that it gets. */
  function newAgent(assistant: string, threadId: string = randomUUID()) {
    const agent = new Agent({ url: urlOf(assistant), headers: headers(), threadId });
    const events: SentEvent[] = [];
    agent.subscribe({ onEvent: ({ event }) => void events.push(event as SentEvent) });
    return { agent, events, ofType: (type: string) => events.filter((event) => event.type === type) };
  }

  it('streams texts, and has the state and the messages of the thread after each run', async () => {
    const { agent, ofType } = newAgent('page');
    agent.addMessage(user('good day'));
    const { newMessages } = await agent.runAgent();
    expect(newMessages).toMatchObject([{ role: 'assistant', content: 'You said good day.' }]);
    const deltas = ofType('TEXT_MESSAGE_CONTENT').map(({ delta }) => delta);
    expect(deltas).toEqual(['You ', 'said ', 'good ', 'day.']);
    await expectThreadOf(agent);

    agent.setState({ ...agent.state, colour: 'red' });
    agent.addMessage(user('bye'));
    await agent.runAgent();
    expect(contentsOf(agent.messages)).toEqual(['good day', 'You said good day.', 'bye', 'You said bye.']);
    expect(agent.state).toMatchObject({ colour: 'red', notes: { heard: 2 } });
    await expectThreadOf(agent);
  });

  it('follows the state of the thread by deltas, which lead to the state that the run ends with', async () => {
    const { agent, ofType } = newAgent('page');
    const applied: unknown[] = [];
    agent.subscribe({ onStateSnapshotEvent: ({ state }) => void applied.push(state) });
    agent.addMessage(user('one'));
    await agent.runAgent();
    agent.addMessage(user('two'));
    await agent.runAgent();
    expect(ofType('STATE_DELTA').at(-1)!.delta).toEqual([
      { op: 'replace', path: '/notes/heard', value: 2 },
      { op: 'add', path: '/notes/texts/-', value: 'You said two.' },
    ]);
    expect(applied.at(-1)).toEqual(ofType('STATE_SNAPSHOT').at(-1)!.snapshot);
    await expectThreadOf(agent);
  });

  it('shows a tool of the agent: its call, its result, and the answer', async () => {
    const { agent, ofType } = newAgent('weather');
    agent.addMessage(user('Oslo, please'));
    await agent.runAgent();
    expect(agent.messages.slice(1)).toMatchObject([
      { role: 'assistant', toolCalls: [{ id: 'call_1', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }] },
      { role: 'tool', toolCallId: 'call_1', content: 'It rains in Oslo.' },
      { role: 'assistant', content: 'It rains in Oslo.' },
    ]);
    expect(ofType('STEP_STARTED').map(({ stepName }) => stepName)).toEqual(['model', 'tools', 'model']);
    await expectThreadOf(agent);
  });

  it('executes a tool of its own, and the agent goes on with the result in the next request', async () => {
    const { agent, ofType } = newAgent('page');
    agent.addMessage(user('pick'));
    await agent.runAgent({ tools: [PICK_COLOUR] });
    const toolCallId = String(ofType('TOOL_CALL_START')[0]!.toolCallId);
    expect(agent.messages.at(-1)).toMatchObject({
      role: 'assistant',
      toolCalls: [{ id: toolCallId, function: { name: 'pick_colour', arguments: '{"among":["red","blue"]}' } }],
    });
    await expectThreadOf(agent);

    agent.addMessage({ id: randomUUID(), role: 'tool', toolCallId, content: 'blue' });
    await agent.runAgent({ tools: [PICK_COLOUR] });
    expect(contentsOf(agent.messages)).toEqual(['pick', '', 'blue', 'You said blue.']);
    expect(agent.state).toMatchObject({ colour: 'blue' });
    expect(ofType('TOOL_CALL_START')).toHaveLength(1);
    await expectThreadOf(agent);
  });

  it('gets an interrupt and answers it, also under the id of the run that asked, as CopilotKit does', async () => {
    const { agent, ofType } = newAgent('page');
    for (const runId of [randomUUID(), undefined]) {
      agent.addMessage(user('ask'));
      await agent.runAgent({ runId });
      expect(agent.pendingInterrupts).toMatchObject([{ message: expect.stringContaining('Keep') }]);
      expect(ofType('CUSTOM').at(-1)).toMatchObject({ name: 'on_interrupt', value: expect.stringContaining('Keep') });
      await expectThreadOf(agent);
      const interruptId = agent.pendingInterrupts[0]!.id;
      const payload = `green ${runId}`;
      await agent.runAgent({ runId, resume: [{ interruptId, status: 'resolved', payload }] });
      expect(agent.pendingInterrupts).toEqual([]);
      expect(agent.state).toMatchObject({ colour: payload });
      await expectThreadOf(agent);
    }
    expect(await client.threads.get(agent.threadId)).toMatchObject({ status: 'idle' });
  });

  it('learns why a run failed', async () => {
    const { agent, ofType } = newAgent('boom');
    agent.setState({ heat: 1 });
    await agent.runAgent();
    expect(ofType('RUN_ERROR')).toMatchObject([{ code: 'KettleError' }]);
    expect(ofType('RUN_FINISHED')).toEqual([]);
  });

  it('that left in the middle of a text gets its run again by its id, instead of another run', async () => {
    const held = await holdText();
    const { agent, ofType } = newAgent('page');
    const runId = randomUUID();
    agent.addMessage(user(`pause ${held.url}`));
    const leaving = agent.subscribe({ onTextMessageContentEvent: () => agent.abortRun() });
    await agent.runAgent({ runId });
    expect(contentsOf(agent.messages).at(-1)).toBe('Before ');
    leaving.unsubscribe();

    const { agent: again } = newAgent('page', agent.threadId);
    again.setMessages(agent.messages.slice(0, 1));
    await again.runAgent({ runId }, { onTextMessageContentEvent: () => held.release() });
    expect(contentsOf(again.messages).slice(1)).toEqual(['Before and after.']);
    await expectThreadOf(again);
    expect(await client.runs.list(agent.threadId)).toHaveLength(1);
    expect(ofType('RUN_FINISHED')).toEqual([]);
  });

  it('shows what a model thinks beside what it says, and events of LangGraph where they are asked for', async () => {
    const { agent, ofType } = newAgent('page');
    agent.addMessage(user('think'));
    await agent.runAgent({ forwardedProps: { emitRawEvents: true } });
    expect(ofType('REASONING_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual(['Let me ', 'see.']);
    expect(contentsOf(agent.messages)).toContain('Done.');
    expect(ofType('RAW').length).toBeGreaterThan(0);
  });

  it('of a page that was loaded anew gets the conversation by joining the last run', async () => {
    const { agent } = newAgent('page', `chat of ${randomUUID()}`);
    agent.addMessage(user('first'));
    await agent.runAgent({ runId: 'the last' });
    const { agent: reloaded } = newAgent('page', agent.threadId);
    await reloaded.runAgent({ runId: 'the last' });
    expect([reloaded.messages, reloaded.state]).toEqual([agent.messages, agent.state]);
    reloaded.addMessage(user('second'));
    await reloaded.runAgent();
    expect(contentsOf(reloaded.messages)).toEqual(['first', 'You said first.', 'second', 'You said second.']);
    expect(reloaded.state).toMatchObject({ notes: { heard: 2 } });
  });

  it('is refused with the reason when its key is wrong', async () => {
    const logging = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => logging.mockRestore());
    const stranger = new Agent({ url: urlOf('page'), headers: { 'x-api-key': 'wrong' } });
    await expect(stranger.runAgent()).rejects.toThrow('HTTP 401: {"detail":"Invalid API key"}');
  });
});

/** Asks for a run as clients do, and yields its events with their ids. */
async function* eventsOf(input: object, { after, signal }: { after?: string; signal?: AbortSignal } = {}) {
  const response = await fetch(urlOf('page'), {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json', ...(after && { 'last-event-id': after }) },
    body: JSON.stringify(input),
    signal,
  });
  const messages = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { id = '', data } of messages) yield { id, event: JSON.parse(data) as SentEvent };
}

async function allEventsOf(...asked: Parameters<typeof eventsOf>) {
  const all = [];
  for await (const sent of eventsOf(...asked)) all.push(sent);
  return all;
}

it('a stream that was cut in the middle goes on after its last event: nothing is missing, nothing comes twice', async () => {
  const held = await holdText();
  const names = { threadId: randomUUID(), runId: randomUUID(), protocolVersion: '1.0' };
  const input = { ...names, messages: [user(`pause ${held.url}`)], tools: [], context: [], state: {} };
  const connection = new AbortController();
  const seen = [];
  for await (const sent of eventsOf(input, { signal: connection.signal })) {
    seen.push(sent);
    if (sent.event.delta === 'Before ') break;
  }
  connection.abort();
  held.release();
  seen.push(...(await allEventsOf(input, { after: seen.at(-1)!.id })));
  const whole = await allEventsOf(input);
  expect(seen).toEqual(whole);
  expect(whole.at(-1)!.event.type).toBe('RUN_FINISHED');
  for (const [index, { id }] of whole.entries()) {
    expect(await allEventsOf(input, { after: id })).toEqual(whole.slice(index + 1));
  }
  expect(await client.runs.list(input.threadId)).toHaveLength(1);
});
