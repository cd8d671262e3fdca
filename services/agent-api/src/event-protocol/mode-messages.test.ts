import type { StreamEntry } from '@runyard/run-stream';
import { expect, it } from 'vitest';
import { ModeMessages } from './mode-messages.ts';

type Entry = [kind: string, data: unknown, event?: string];

/** Returns the events of a run with these entries, its end included: channel, namespace, node and the event itself. */
function convert(entries: Entry[]) {
  const messages = new ModeMessages();
  const converted = entries.flatMap(([kind, data, event = kind]) => [
    ...messages.convert({ kind, event, data: JSON.stringify(data) } as StreamEntry),
  ]);
  return [...converted, ...messages.end()];
}

/** Puts the text of each message together, and checks that it begins and ends once. */
function texts(entries: Entry[]): Record<string, string> {
  const found: Record<string, string> = {};
  let current = '';
  for (const { channel, data } of convert(entries)) {
    if (channel !== 'messages') continue;
    if (data.event === 'message-start') {
      current = String(data.id);
      expect(found).not.toHaveProperty([current]);
      found[current] = '';
    }
    const { text } = (data.delta ?? {}) as { text?: string };
    if (text !== undefined) found[current] += text;
    if (data.event === 'message-finish') found[current] += '.';
  }
  return found;
}

const human = { type: 'human', id: 'h', content: 'hi' };
const ai = (id: string, content: string, more: object = {}) => ({ type: 'ai', id, content, ...more });
const chunk = (id: string, content: string, more: object = {}) => ({
  type: 'AIMessageChunk',
  id,
  content,
  tool_call_chunks: [],
  ...more,
});
const inTalk = { langgraph_checkpoint_ns: 'talk:1', langgraph_node: 'talk', run_id: 'r' };

it('chunks of a message are its deltas, and the state completes it once', () => {
  const events = convert([
    ['values', { messages: [human] }],
    ['messages-tuple', [chunk('a', 'Hel'), inTalk], 'messages'],
    ['messages-tuple', [chunk('a', 'lo'), inTalk], 'messages'],
    ['updates', { talk: { messages: [ai('a', 'Hello')] } }],
    ['values', { messages: [human, ai('a', 'Hello')] }],
  ]);
  expect(events.map(({ data }) => data)).toEqual([
    { event: 'message-start', role: 'ai', id: 'a', run_id: 'r' },
    { event: 'content-block-start', index: 0, content: { type: 'text', text: '' }, run_id: 'r' },
    { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'Hel' }, run_id: 'r' },
    { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'lo' }, run_id: 'r' },
    { event: 'content-block-finish', index: 0, content: { type: 'text', text: 'Hello' }, run_id: 'r' },
    { event: 'message-finish', run_id: 'r' },
  ]);
  expect(new Set(events.map(({ namespace, node }) => [...namespace, node].join()))).toEqual(new Set(['talk:1,talk']));
});

it('a message that was streamed ends with the next one of its node, with the step, or with the run', () => {
  const one = (id: string, metadata: object = inTalk): Entry => [
    'messages-tuple',
    [chunk(id, id), metadata],
    'messages',
  ];
  const beside = { ...inTalk, langgraph_checkpoint_ns: 'beside:2' };
  expect(texts([one('a'), one('b'), one('c')])).toEqual({ a: 'a.', b: 'b.', c: 'c.' });
  const inSubgraph = { ...inTalk, langgraph_checkpoint_ns: 'sub:3|talk:1' };
  const events = convert([one('a', beside), one('b', inSubgraph), ['values', {}, 'values|sub:3'], ['values', {}]]);
  const finished = events.filter(({ data }) => data.event === 'message-finish');
  expect(finished.map(({ namespace }) => namespace)).toEqual([['sub:3', 'talk:1'], ['beside:2']]);
});

it('values alone bring each new message whole, and none that was there before or that a client sent', () => {
  const before = ai('old', 'old');
  expect(
    texts([
      ['values', { messages: [before, human] }],
      ['values', { messages: [before, human, ai('a', 'one')] }],
      ['values', { messages: [before, human, ai('a', 'one'), { ...human, id: 'h2' }, ai('b', 'two')] }],
    ]),
  ).toEqual({ a: 'one.', b: 'two.' });
});

it('mode messages brings each message as far as it has come, then whole', () => {
  expect(
    texts([
      ['messages', [ai('old', 'old'), human], 'messages/complete'],
      ['messages', { a: { metadata: {} } }, 'messages/metadata'],
      ['messages', [chunk('a', 'Hel')], 'messages/partial'],
      ['messages', [chunk('a', 'Hello')], 'messages/partial'],
      ['messages', [ai('a', 'Hello there')], 'messages/complete'],
    ]),
  ).toEqual({ a: 'Hello there.' });
  const whole: Entry[] = [
    ['messages', { a: { metadata: {} } }, 'messages/metadata'],
    ['messages', [ai('a', 'whole')], 'messages/complete'],
  ];
  expect(texts(whole)).toEqual({ a: 'whole.' });
});

it('tool calls of a message start tools, and answers of tools end them', () => {
  const calls = [{ id: 'c', name: 'weather', args: { city: 'Oslo' }, type: 'tool_call' }];
  const answer = { type: 'tool', id: 't', content: 'rain', tool_call_id: 'c' };
  const wanted = [
    { event: 'tool-started', tool_call_id: 'c', tool_name: 'weather', input: { city: 'Oslo' } },
    { event: 'tool-finished', tool_call_id: 'c', output: answer },
  ];
  const tools = (entries: Entry[]) =>
    convert(entries)
      .filter(({ channel }) => channel === 'tools')
      .map(({ data }) => data);
  expect(
    tools([['updates', { agent: { messages: [ai('a', '', { tool_calls: calls })] }, tools: { messages: [answer] } }]]),
  ).toEqual(wanted);
  const piece = (args: string, more: object = {}) =>
    chunk('a', '', { tool_call_chunks: [{ index: 0, args, ...more }] });
  expect(
    tools([
      ['values', { messages: [human] }],
      ['messages-tuple', [piece('{"city":', { id: 'c', name: 'weather' }), inTalk], 'messages'],
      ['messages-tuple', [piece('"Oslo"}'), inTalk], 'messages'],
      ['values', { messages: [human, ai('a', '', { tool_calls: calls }), answer] }, 'values'],
    ]),
  ).toEqual(wanted);
  const failed = { ...answer, status: 'error', content: 'no such city' };
  expect(tools([['messages-tuple', [failed, inTalk], 'messages']])).toEqual([
    { event: 'tool-error', tool_call_id: 'c', message: 'no such city' },
  ]);
});
