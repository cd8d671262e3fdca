import { expect, it } from 'vitest';
import type { FollowedEntry } from '../../streams/follow-run.ts';
import type { AgUiEvent, AgUiPeer } from './ag-ui-event.ts';
import { RunTranslator, type TranslatedEnd } from './run-translator.ts';

// biome-ignore lint/suspicious/noExplicitAny: events are looked into at many places.
type Json = any;

const CURRENT: AgUiPeer = { threadId: 't', runId: 'r', isCurrent: true, wantsRaw: false };
const OLDER: AgUiPeer = { ...CURRENT, isCurrent: false };

type Told = [channel: string, data: unknown, namespace?: string[]];

/** Returns the entry by which a graph host tells something. */
function entryOf([channel, data, namespace = []]: Told, n: number): FollowedEntry {
  const method = channel === 'input' ? 'input.requested' : channel;
  return {
    id: `1795206692697-${n}`,
    runId: 'x',
    attempt: 1,
    isResumable: true,
    kind: channel === 'metadata' || channel === 'stream.gap' ? channel : `v2.${channel}`,
    event: [method, ...namespace].join('|'),
    data: JSON.stringify(channel === 'stream.gap' ? data : { timestamp: 1, data }),
  };
}

/** Returns what a client gets of a run, and checks that it keeps the rules of the protocol. */
function translate(told: Told[], end: TranslatedEnd | null = { status: 'success' }, peer = CURRENT): AgUiEvent[] {
  const translator = new RunTranslator(peer);
  const events = [translator.begin(), ...told.flatMap((each, n) => [...translator.translate(entryOf(each, n))])];
  if (end) events.push(...translator.end(end));
  requireRules(events);
  return events;
}

const ITEMS = [
  ['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'messageId'],
  ['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'toolCallId'],
  ['REASONING_START', 'REASONING_MESSAGE_CONTENT', 'REASONING_END', 'messageId'],
  ['REASONING_MESSAGE_START', '', 'REASONING_MESSAGE_END', 'messageId'],
  ['STEP_STARTED', '', 'STEP_FINISHED', 'stepName'],
] as const;

/** Checks what clients check: the beginning, the end, and that everything that is opened once is closed. */
function requireRules(events: AgUiEvent[]): void {
  expect(events[0]!.type).toBe('RUN_STARTED');
  const ends = events.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR');
  expect(ends).toEqual(ends.length === 0 ? [] : [events.at(-1)]);
  for (const [start, content, stop, key] of ITEMS) {
    const open = new Set<unknown>();
    for (const event of events) {
      const id = event[key];
      if (event.type === start) expect(open.has(id), `${start} ${id} twice`).toBe(false);
      if (event.type === content || event.type === stop) expect(open.has(id), `${event.type} ${id}`).toBe(true);
      if (event.type === start) open.add(id);
      if (event.type === stop) open.delete(id);
    }
    if (events.at(-1)!.type === 'RUN_FINISHED') expect([...open]).toEqual([]);
  }
}

const typesOf = (events: AgUiEvent[]) => events.map(({ type }) => type);
const only = (events: AgUiEvent[], type: string): Json[] => events.filter((event) => event.type === type);
const textIn = (events: AgUiEvent[]) =>
  only(events, 'TEXT_MESSAGE_CONTENT')
    .map(({ delta }) => delta)
    .join('');

const at = ['model:1'];
const start = (id: string, more = {}): Told => [
  'messages',
  { event: 'message-start', id, role: 'ai', run_id: 'm', ...more },
  at,
];
const block = (index: number, content: object): Told => [
  'messages',
  { event: 'content-block-start', index, content, run_id: 'm' },
  at,
];
const delta = (index: number, change: object): Told => [
  'messages',
  { event: 'content-block-delta', index, delta: change, run_id: 'm' },
  at,
];
const blockEnd = (index: number, content: object): Told => [
  'messages',
  { event: 'content-block-finish', index, content, run_id: 'm' },
  at,
];
const finish = (more = {}): Told => ['messages', { event: 'message-finish', run_id: 'm', ...more }, at];
const text = (words: string): Told => delta(0, { type: 'text-delta', text: words });
const human = { type: 'human', id: 'h', content: 'hi' };
const ai = (id: string, content: string, more = {}) => ({ type: 'ai', id, content, ...more });
const values = (messages: object[], more = {}): Told => ['values', { messages, ...more }];
const call = (args: string): Told =>
  delta(0, { type: 'block-delta', fields: { type: 'tool_call_chunk', id: 'c', name: 'weather', args } });

it('a text is streamed as the model writes it, and the run ends with state and messages', () => {
  const events = translate(
    [
      ['metadata', {}],
      values([human]),
      start('a'),
      block(0, { type: 'text', text: '' }),
      text('Hel'),
      text('lo'),
      blockEnd(0, { type: 'text', text: 'Hello' }),
      finish(),
      values([human, ai('a', 'Hello')]),
    ],
    { status: 'success', values: { messages: [human, ai('a', 'Hello')], mood: 'good' } },
  );
  expect(events).toEqual([
    { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' },
    { type: 'STATE_SNAPSHOT', snapshot: {} },
    { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'h', role: 'user', content: 'hi' }] },
    { type: 'TEXT_MESSAGE_START', messageId: 'a', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'Hel' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'lo' },
    { type: 'TEXT_MESSAGE_END', messageId: 'a' },
    { type: 'STATE_SNAPSHOT', snapshot: { mood: 'good' } },
    {
      type: 'MESSAGES_SNAPSHOT',
      messages: [
        { id: 'h', role: 'user', content: 'hi' },
        { id: 'a', role: 'assistant', content: 'Hello' },
      ],
    },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' } },
  ]);
});

it('a call is streamed as far as its arguments have come, and its result follows from the state', () => {
  const calling = ai('a', '', { tool_calls: [{ id: 'c', name: 'weather', args: { city: 'Oslo' } }] });
  const result = { type: 'tool', id: 'o', tool_call_id: 'c', content: 'Rain' };
  const events = translate([
    values([human]),
    start('a'),
    block(0, { type: 'tool_call_chunk', id: 'c', name: 'weather', args: '' }),
    call('{"city":'),
    call('{"city":"Oslo"}'),
    blockEnd(0, { type: 'tool_call', id: 'c', name: 'weather', args: { city: 'Oslo' } }),
    finish(),
    values([human, calling]),
    values([human, calling, result]),
  ]);
  expect(events.filter(({ type }) => type.startsWith('TOOL'))).toEqual([
    { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'weather', parentMessageId: 'a' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"city":' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '"Oslo"}' },
    { type: 'TOOL_CALL_END', toolCallId: 'c' },
    { type: 'TOOL_CALL_RESULT', messageId: 'o', toolCallId: 'c', content: 'Rain', role: 'tool' },
  ]);
});

it('a call that comes whole, or in a block of text, has its arguments once', () => {
  const whole = translate([
    start('a'),
    block(0, { type: 'tool_call_chunk', id: 'c', name: 'weather', args: '' }),
    blockEnd(0, { type: 'tool_call', id: 'c', name: 'weather', args: { city: 'Oslo' } }),
    finish(),
  ]);
  expect(only(whole, 'TOOL_CALL_ARGS')).toEqual([
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"city":"Oslo"}' },
  ]);
  const mixed = translate([
    start('a'),
    block(0, { type: 'text', text: '' }),
    text('Let me see.'),
    call('{}'),
    blockEnd(0, { type: 'text', text: 'Let me see.' }),
    finish(),
  ]);
  expect(typesOf(mixed).slice(1, -1)).toEqual([
    ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TOOL_CALL_START', 'TOOL_CALL_ARGS'],
    ...['TOOL_CALL_END', 'TEXT_MESSAGE_END'],
  ]);
});

it('reasoning comes before the text, apart from it', () => {
  const events = translate([
    start('a'),
    block(0, { type: 'reasoning', reasoning: '' }),
    delta(0, { type: 'reasoning-delta', reasoning: 'Hm.' }),
    blockEnd(0, { type: 'reasoning', reasoning: 'Hm.' }),
    block(1, { type: 'text', text: 'Yes' }),
    blockEnd(1, { type: 'text', text: 'Yes' }),
    finish(),
  ]);
  expect(events.slice(1, 6)).toEqual([
    { type: 'REASONING_START', messageId: 'a-reasoning-0' },
    { type: 'REASONING_MESSAGE_START', messageId: 'a-reasoning-0', role: 'reasoning' },
    { type: 'REASONING_MESSAGE_CONTENT', messageId: 'a-reasoning-0', delta: 'Hm.' },
    { type: 'REASONING_MESSAGE_END', messageId: 'a-reasoning-0' },
    { type: 'REASONING_END', messageId: 'a-reasoning-0' },
  ]);
  expect(textIn(events)).toBe('Yes');
});

it('two models that write at once are two messages', () => {
  const of = (run_id: string, data: object): Told => ['messages', { ...data, run_id }, at];
  const events = translate([
    of('m1', { event: 'message-start', id: 'a', role: 'ai' }),
    of('m2', { event: 'message-start', id: 'b', role: 'ai' }),
    of('m1', { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'A' } }),
    of('m2', { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'B' } }),
    of('m1', { event: 'message-finish' }),
    of('m2', { event: 'message-finish' }),
  ]);
  expect(only(events, 'TEXT_MESSAGE_CONTENT')).toMatchObject([
    { messageId: 'a', delta: 'A' },
    { messageId: 'b', delta: 'B' },
  ]);
});

it('a message that nobody saw being written is sent when it is in the state, and older ones are not', () => {
  const events = translate([
    values([human, ai('old', 'before', { tool_calls: [{ id: 'old call', name: 'x', args: {} }] })]),
    values([human, ai('old', 'before'), ai('new', 'after', { tool_calls: [{ id: 'n', name: 'x', args: { y: 1 } }] })]),
    ['values', { messages: [ai('first of a graph inside', 'known')] }, ['desk:1']],
    ['values', { messages: [ai('inside', ' inside')] }, ['desk:1']],
  ]);
  expect(textIn(events)).toBe('after inside');
  expect(only(events, 'TOOL_CALL_START')).toMatchObject([{ toolCallId: 'n', parentMessageId: 'new' }]);
  expect(only(events, 'TOOL_CALL_ARGS')).toMatchObject([{ delta: '{"y":1}' }]);
});

it('the state is sent whole at first, then by what has changed, without messages and what the client brought', () => {
  const client = { tools: [], 'ag-ui': {}, copilotkit: {} };
  const events = translate([
    values([human], { plan: ['a'], 'a/b~c': 1, ...client }),
    values([human], { plan: ['a', 'b'], 'a/b~c': 2 }),
    values([human], { plan: ['a', 'b'], 'a/b~c': 2 }),
    values([human], { plan: ['c'], done: true }),
  ]);
  expect(events.filter(({ type }) => type.startsWith('STATE'))).toEqual([
    { type: 'STATE_SNAPSHOT', snapshot: { plan: ['a'], 'a/b~c': 1 } },
    {
      type: 'STATE_DELTA',
      delta: [
        { op: 'add', path: '/plan/-', value: 'b' },
        { op: 'replace', path: '/a~1b~0c', value: 2 },
      ],
    },
    {
      type: 'STATE_DELTA',
      delta: [
        { op: 'remove', path: '/a~1b~0c' },
        { op: 'replace', path: '/plan/0', value: 'c' },
        { op: 'remove', path: '/plan/1' },
        { op: 'add', path: '/done', value: true },
      ],
    },
  ]);
});

it('nodes are steps, and one that works several times at once is one step', () => {
  const task = (id: string, name: string, more = {}): Told => ['tasks', { id, name, ...more }];
  const events = translate([
    task('1', 'plan'),
    task('2', 'work'),
    task('3', 'work'),
    task('1', 'plan', { result: {} }),
    task('2', 'work', { result: {} }),
    ['tasks', { id: '9', name: 'inside' }, ['work:3']],
    task('3', 'work', { result: {} }),
    task('4', 'left open'),
  ]);
  expect(events.slice(1, -1).map(({ type, stepName }) => [type, stepName])).toEqual([
    ['STEP_STARTED', 'plan'],
    ['STEP_STARTED', 'work'],
    ['STEP_FINISHED', 'plan'],
    ['STEP_FINISHED', 'work'],
    ['STEP_STARTED', 'left open'],
    ['STEP_FINISHED', 'left open'],
  ]);
});

it('an interrupt ends the run with the question, in the form of every client', () => {
  const interrupt = { id: 'i', value: { question: 'May I?' }, response_schema: { type: 'string' } };
  const end = { status: 'success', values: { request: 'go', __interrupt__: [interrupt] } } as const;
  const outcome = {
    type: 'interrupt',
    interrupts: [
      {
        id: 'i',
        reason: 'langgraph:interrupt',
        message: 'May I?',
        responseSchema: { type: 'string' },
        metadata: { langgraph: { raw: { question: 'May I?' } } },
      },
    ],
  };
  for (const peer of [CURRENT, OLDER]) {
    expect(translate([], end, peer).slice(1)).toEqual([
      { type: 'CUSTOM', name: 'on_interrupt', value: '{"question":"May I?"}' },
      { type: 'STATE_SNAPSHOT', snapshot: { request: 'go' } },
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome },
    ]);
  }
  const withoutValues = translate([['input', { interrupt_id: 'i', payload: 'Really?' }]], {
    status: 'success',
    isWaiting: true,
  });
  expect(withoutValues.at(-1)).toMatchObject({ outcome: { interrupts: [{ id: 'i', message: 'Really?' }] } });
});

it('a run that failed or was cancelled says so to every client', () => {
  const open = [start('a'), text('unfin')];
  const error = { error: 'RangeError', message: 'Boo!' };
  expect(translate(open, { status: 'error', error }).at(-1)).toEqual({
    type: 'RUN_ERROR',
    message: 'Boo!',
    code: 'RangeError',
  });
  const cancelled = { status: 'interrupted', values: { n: 1 } } as const;
  expect(translate(open, cancelled).at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  expect(translate(open, cancelled, OLDER).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'cancelled' });
  expect(typesOf(translate([], { ...cancelled, isRolledBack: true }))).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
});

it('an older client gets nothing that came with 1.0', () => {
  const told = [start('a'), text('x'), finish({ usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } })];
  const usage = [{ model: 'm', inputTokens: 1, outputTokens: 2, totalTokens: 3 }];
  const named = [
    ...told.slice(0, 2),
    finish({ usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 }, responseMetadata: { model_name: 'm' } }),
  ];
  expect(translate(named).at(-1)).toMatchObject({ usage });
  const events = translate(told, { status: 'success' }, OLDER);
  expect(events[0]).toEqual({ type: 'RUN_STARTED', threadId: 't', runId: 'r' });
  expect(events.at(-1)).toEqual({ type: 'RUN_FINISHED', threadId: 't', runId: 'r' });
});

it('a later attempt of a run closes what the earlier one was writing, and repeats nothing', () => {
  const calling = ai('a', '', { tool_calls: [{ id: 'c', name: 'x', args: {} }] });
  const events = translate([
    ['metadata', {}],
    values([human]),
    values([human, calling]),
    ['tasks', { id: '1', name: 'model' }],
    start('b'),
    text('half'),
    ['metadata', {}],
    values([human, calling]),
    ['tasks', { id: '1', name: 'model' }],
    start('b2', { run_id: 'm2' }),
    [
      'messages',
      { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'whole' }, run_id: 'm2' },
      at,
    ],
    ['messages', { event: 'message-finish', run_id: 'm2' }, at],
  ]);
  expect(only(events, 'TOOL_CALL_START')).toHaveLength(1);
  expect(only(events, 'STEP_STARTED')).toHaveLength(2);
  expect(textIn(events)).toBe('halfwhole');
});

it('after lost events the state comes whole again, and no old message as a new one', () => {
  const events = translate([
    values([human], { n: 1 }),
    start('a'),
    text('lost'),
    ['stream.gap', { reason: 'lost', after: null }],
    text('no'),
    values([human, ai('seen elsewhere', 'old')], { n: 2 }),
    values([human, ai('seen elsewhere', 'old'), ai('z', 'fresh')], { n: 3 }),
  ]);
  expect(textIn(events)).toBe('lostfresh');
  expect(only(events, 'STATE_SNAPSHOT').map(({ snapshot }) => snapshot)).toEqual([{ n: 1 }, { n: 2 }]);
});

it('custom events have their names, and events of LangGraph come raw to those who ask, after the others', () => {
  const told: Told[] = [['custom', { payload: { progress: 1 } }]];
  expect(only(translate(told), 'CUSTOM')).toEqual([{ type: 'CUSTOM', name: 'custom', value: { progress: 1 } }]);
  const raw = translate(told, null, { ...CURRENT, wantsRaw: true });
  expect(typesOf(raw)).toEqual(['RUN_STARTED', 'CUSTOM', 'RAW']);
  expect(raw.at(-1)).toMatchObject({ event: { method: 'custom', params: { namespace: [] } }, source: 'langgraph' });
});

it('messages of users keep their files, and those without a form in AG-UI are left out', () => {
  const content = [
    { type: 'text', text: 'look' },
    { type: 'image', mimeType: 'image/png', data: 'aGk=' },
    { type: 'image_url', image_url: { url: 'https://example.com/x.png' } },
  ];
  const messages = [
    { type: 'human', id: 'h', content },
    { type: 'system', id: 's', content: 'be kind', additional_kwargs: { __openai_role__: 'developer' } },
    { type: 'tool', id: 'o', tool_call_id: 'c', content: [{ type: 'text', text: 'no' }], status: 'error' },
    { type: 'remove', id: 'x', content: '' },
  ];
  const [snapshot] = only(translate([], { status: 'success', values: { messages } }), 'MESSAGES_SNAPSHOT');
  expect(snapshot.messages).toEqual([
    {
      id: 'h',
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
        { type: 'image', source: { type: 'url', value: 'https://example.com/x.png' } },
      ],
    },
    { id: 's', role: 'developer', content: 'be kind' },
    { id: 'o', role: 'tool', toolCallId: 'c', content: 'no', error: 'no' },
  ]);
});
