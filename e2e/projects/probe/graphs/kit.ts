import { setTimeout as delay } from 'node:timers/promises';
import { AIMessage, HumanMessage, type MessageContent } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import {
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';

const FILE = { mimeType: 'text/plain', metadata: { filename: 'output.txt' } };
const DATA = Buffer.from('tck').toString('base64');

const DIRECT = new AIMessage({
  content: 'Direct message response',
  additional_kwargs: { a2a: { answer: 'message' } },
});

/** The answers that the public compatibility kits of A2A want, by the beginning of the message's id; longer ones first. */
const ANSWERS: [prefix: string, content: MessageContent][] = [
  ['tck-complete-task', 'Hello from TCK'],
  ['tck-artifact-text', 'Generated text content'],
  ['tck-artifact-file-url', [{ type: 'file', url: 'https://example.com/output.txt', ...FILE }]],
  ['tck-artifact-file', [{ type: 'file', data: DATA, ...FILE }]],
  ['tck-artifact-data', [{ type: 'data', data: { key: 'value', count: 42 } }]],
  ['tck-stream-artifact-file', [{ type: 'file', data: DATA, ...FILE }]],
];

/** Tasks that the kit of 0.3 goes on with, or cancels, after each answer. */
const OPEN = [
  ...['test-message-id', 'test-history', 'test-contextid', 'test-state', 'test-cancel', 'test-update'],
  ...['cancel-test', 'mapping-test', 'text-'],
];

async function answer({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) {
  const id = messages.findLast((message) => HumanMessage.isInstance(message))?.id ?? '';
  if (id.startsWith('tck-input-required')) interrupt('What else?');
  if (OPEN.some((prefix) => id.startsWith(prefix))) for (;;) interrupt('What else?');
  // The kits subscribe meanwhile.
  if (id.startsWith('test-resubscribe-message-id')) await delay(4_000, undefined, { signal: config.signal });
  if (id.startsWith('tck-message-response')) return { messages: [DIRECT] };
  const [, content] = ANSWERS.find(([prefix]) => id.startsWith(prefix)) ?? [];
  if (content !== undefined) return { messages: [new AIMessage({ content })] };
  // Whatever else there is streams: a model answers in pieces.
  const model = new FakeListChatModel({ responses: ['Streamed text content'] });
  const { content: streamed, id: streamedId } = await model.invoke(messages, config);
  return { messages: [new AIMessage({ content: streamed, id: streamedId })] };
}

/** Does what the public compatibility kits of A2A steer by the id of their message. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', answer)
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile();
