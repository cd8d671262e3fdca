import { describe, expect, it } from 'vitest';
import {
  afterEvent,
  type ChatState,
  EMPTY_CHAT,
  errorText,
  type RunEvent,
  shownMessages,
  withEarlierValues,
} from './chat-state.ts';

const human = { type: 'human', id: 'h', content: 'hi' };
const piece = (id: string, content: string, rest = {}): RunEvent => ({
  event: 'messages',
  data: [{ type: 'AIMessageChunk', id, content, ...rest }, {}],
});
const values = (...messages: object[]): RunEvent => ({ event: 'values', data: { messages } });
const after = (...events: RunEvent[]): ChatState => events.reduce(afterEvent, EMPTY_CHAT);
const texts = (state: ChatState) => shownMessages(state).map(({ text }) => text);

describe('a chat', () => {
  it('shows tokens after the messages that are whole, and each message once', () => {
    const state = after(values(human), piece('a', 'It '), piece('a', 'rains'));
    expect(texts(state)).toEqual(['hi', 'It rains']);
    expect(texts(afterEvent(state, values(human, { type: 'ai', id: 'a', content: 'It rains' })))).toEqual([
      'hi',
      'It rains',
    ]);
  });

  it('ignores pieces of a message that is whole already', () => {
    const state = after(values(human, { type: 'ai', id: 'a', content: 'It rains' }), piece('a', 'It '));
    expect(texts(state)).toEqual(['hi', 'It rains']);
  });

  it('keeps what is being written when older values of the thread come', () => {
    const state = withEarlierValues(after(values(human), piece('a', 'It ')), { messages: [human] });
    expect(texts(state)).toEqual(['hi', 'It ']);
  });

  it('shows the tokens of subgraphs, but not their values', () => {
    const state = after(
      values(human),
      { event: 'values|desk:1', data: { messages: [] } },
      {
        ...piece('a', 'It '),
        event: 'messages|desk:1',
      },
    );
    expect(texts(state)).toEqual(['hi', 'It ']);
  });

  it('puts a tool call together from its pieces', () => {
    const call = (fields: object) => piece('a', '', { tool_call_chunks: [{ index: 0, ...fields }] });
    const state = after(call({ id: 'c', name: 'weather' }), call({ args: '{"city":' }), call({ args: '"Oslo"}' }));
    expect(shownMessages(state)[0]?.toolCalls).toEqual([{ id: 'c', name: 'weather', args: { city: 'Oslo' } }]);
  });

  it('replaces a whole message that comes twice instead of adding it to itself', () => {
    const result = { event: 'messages', data: [{ type: 'tool', id: 't', content: 'rain' }, {}] };
    expect(texts(after(result, result))).toEqual(['rain']);
  });

  it('keeps the objects of messages that have not changed', () => {
    const first = after(values(human));
    const second = afterEvent(first, values({ ...human }, { type: 'ai', id: 'a', content: 'x' }));
    expect(second.messages?.[0]).toBe(first.messages?.[0]);
  });

  it('has the error of a run in words, and no question among its values', () => {
    const state = after(
      { event: 'values', data: { a: 1, __interrupt__: [] } },
      { event: 'error', data: { error: 'KettleError', message: 'it leaks' } },
    );
    expect(state).toMatchObject({ values: { a: 1 }, messages: undefined, error: 'KettleError: it leaks' });
    expect(errorText(null)).toBe('The run has failed');
  });
});
