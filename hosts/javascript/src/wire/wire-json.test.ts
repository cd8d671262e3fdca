import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { expect, it } from 'vitest';
import { flattenChunk, toWireJson, UnserializableValueError } from './wire-json.ts';

const asJson = (value: unknown, form?: 'event' | 'state') => JSON.parse(toWireJson(value, form));

it('messages at any depth are written as flat objects', () => {
  const call = { name: 'add', args: { a: 1 }, id: 'c1', type: 'tool_call' as const };
  expect(
    asJson({
      deep: [
        {
          messages: [
            new HumanMessage({ content: 'hi', id: 'h', name: 'Ada' }),
            new AIMessage({ content: '', tool_calls: [call] }),
          ],
        },
      ],
    }),
  ).toEqual({
    deep: [
      {
        messages: [
          { type: 'human', content: 'hi', id: 'h', name: 'Ada', additional_kwargs: {}, response_metadata: {} },
          expect.objectContaining({ type: 'ai', tool_calls: [call], invalid_tool_calls: [] }),
        ],
      },
    ],
  });
});

it('a tool message keeps its tool call id, status and artifact', () => {
  const message = new ToolMessage({ content: '42', tool_call_id: 'c1', name: 'add', status: 'success' });
  expect(asJson(message)).toMatchObject({
    type: 'tool',
    content: '42',
    tool_call_id: 'c1',
    name: 'add',
    status: 'success',
  });
});

it('state, and only state, gets the keys that clients of thread state rely on', () => {
  const defaults = { name: null, example: false, tool_calls: [], invalid_tool_calls: [], usage_metadata: null };
  expect(asJson(new AIMessage('x'), 'state')).toMatchObject(defaults);
  expect(asJson(new HumanMessage('x'), 'state')).toMatchObject({ name: null, example: false });
  expect(asJson(new HumanMessage('x'), 'state')).not.toHaveProperty('tool_calls');
  expect(asJson(new AIMessage('x'))).not.toHaveProperty('usage_metadata');
});

it('a chunk keeps its name while it streams, and becomes a message in state', () => {
  const chunk = new AIMessageChunk({ content: 'Hel', id: 'm' });
  expect(flattenChunk(chunk as never)).toMatchObject({
    type: 'AIMessageChunk',
    content: 'Hel',
    id: 'm',
    tool_call_chunks: [],
  });
  expect(asJson({ messages: [chunk] }).messages[0]).toMatchObject({ type: 'ai', content: 'Hel' });
});

it('a value without messages is neither copied nor changed', () => {
  const value = { a: [1, { b: new Date(0) }], u: undefined };
  expect(toWireJson(value)).toBe('{"a":[1,{"b":"1970-01-01T00:00:00.000Z"}]}');
});

it('the error for a value without a JSON form says why', () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  expect(() => toWireJson(circle)).toThrow(UnserializableValueError);
  expect(() => toWireJson(circle)).toThrow(/circular/);
  expect(() => toWireJson({ big: 1n })).toThrow(/BigInt/);
});
