import { describe, expect, it } from 'vitest';
import { messagesOf, takesMessages } from './messages-content.ts';

describe('messages', () => {
  it('are read in the spelling of LangChain and of OpenAI', () => {
    const messages = messagesOf({
      messages: [
        { role: 'user', content: 'hi' },
        {
          type: 'ai',
          id: 'a',
          content: [
            { type: 'reasoning', reasoning: 'Hm.' },
            { type: 'text', text: 'Yes' },
            { type: 'image_url', image_url: 'x' },
            { type: 'tool_use', id: 'c' },
          ],
          tool_calls: [{ id: 'c', name: 'look', args: { at: 1 } }],
        },
      ],
    });
    expect(messages).toMatchObject([
      { type: 'human', text: 'hi', id: 'message-0' },
      {
        id: 'a',
        text: 'Yes',
        reasoning: 'Hm.',
        others: [{ type: 'image_url' }],
        toolCalls: [{ id: 'c', name: 'look', args: { at: 1 } }],
      },
    ]);
  });

  it('are none where values have something else under that name', () => {
    for (const values of [null, 'text', {}, { messages: 'hi' }, { messages: ['hi'] }, { messages: [{ a: 1 }] }]) {
      expect(messagesOf(values)).toBeUndefined();
    }
  });

  it('are what a graph takes whose schema has a list of them', () => {
    const takes = (messages: unknown) => takesMessages({ type: 'object', properties: { messages } });
    expect(takes({ type: 'array', items: { $ref: '#/definitions/BaseMessage' } })).toBe(true);
    expect(takes({ langgraph_type: 'messages' })).toBe(true);
    expect(takes({ anyOf: [{ type: 'array', items: { type: 'object' } }, { type: 'object' }] })).toBe(true);
    expect(takes({ type: 'string' })).toBe(false);
    expect(takes({ type: 'array', items: { type: 'string' } })).toBe(false);
    expect(takesMessages({ type: 'object', properties: { text: {} } })).toBe(false);
    expect(takesMessages(null)).toBe(false);
  });
});
