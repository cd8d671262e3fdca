/** Graphs that answer at once, under the names that the public conformance suite of MCP calls. */
import { setTimeout as delay } from 'node:timers/promises';
import { AIMessage, type MessageContent } from '@langchain/core/messages';
import { END, type LangGraphRunnableConfig, MessagesValue, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const IMAGE = { type: 'image', mimeType: 'image/png', data: PIXEL };
const AUDIO = { type: 'audio', mimeType: 'audio/wav', data: SILENCE };
const FILE = {
  type: 'file',
  mimeType: 'text/plain',
  data: Buffer.from('This is an embedded resource content.').toString('base64'),
  metadata: { filename: 'resource.txt' },
};

const Messages = new StateSchema({ messages: MessagesValue });
const Nothing = new StateSchema({});
const Text = new StateSchema({ text: z.string() });

/** Makes a graph that takes nothing and answers with a message. */
const saying = (content: MessageContent) =>
  new StateGraph({ state: Messages, input: Nothing, output: Messages })
    .addNode('say', () => ({ messages: [new AIMessage({ content })] }))
    .addEdge(START, 'say')
    .addEdge('say', END)
    .compile();

/** Makes a graph that takes nothing and answers with a text. */
const doing = (act: (config: LangGraphRunnableConfig) => Promise<string> | string) =>
  new StateGraph({ state: Text, input: Nothing, output: Text })
    .addNode('act', async (_state, config: LangGraphRunnableConfig) => ({ text: await act(config) }))
    .addEdge(START, 'act')
    .addEdge('act', END)
    .compile();

export const simpleText = saying('This is a simple text response for testing.');
export const imageContent = saying([IMAGE]);
export const audioContent = saying([AUDIO]);
export const embeddedResource = saying([FILE]);
export const multipleContentTypes = saying([{ type: 'text', text: 'Multiple content types test:' }, IMAGE, FILE]);

export const errorHandling = doing(() => {
  throw new Error('This tool intentionally returns an error for testing');
});

export const logging = doing(() => {
  console.log('Tool execution started');
  return 'done';
});

export const progress = doing(async ({ writer }) => {
  for (const each of [0, 50, 100]) {
    writer?.({ progress: each, total: 100 });
    await delay(50);
  }
  return 'done';
});

const Greeting = new StateSchema({ name: z.string(), text: z.string() });

export const greet = new StateGraph({
  state: Greeting,
  input: new StateSchema({ name: z.string() }),
  output: Text,
})
  .addNode('greet', ({ name }) => ({ text: `Hello, ${name}!` }))
  .addEdge(START, 'greet')
  .addEdge('greet', END)
  .compile();

const Computation = new StateSchema({ seconds: z.number(), label: z.string().optional() });

export const slowCompute = new StateGraph({ state: Computation, input: Computation, output: Computation })
  .addNode('compute', async ({ seconds }, { signal }: LangGraphRunnableConfig) => {
    await delay(seconds * 1_000, undefined, { signal });
    return { seconds: 0 };
  })
  .addEdge(START, 'compute')
  .addEdge('compute', END)
  .compile();

export const failingJob = doing(() => {
  throw new Error('The job failed');
});

/** A schema with the keywords of 2020-12 that no type of zod makes. */
class Contact extends StateSchema<{ name: z.ZodOptional<z.ZodString> }> {
  constructor() {
    super({ name: z.string().optional() });
  }

  override getInputJsonSchema() {
    return {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object' as const,
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    };
  }
}

export const jsonSchema = new StateGraph(new Contact())
  .addNode('keep', () => ({}))
  .addEdge(START, 'keep')
  .addEdge('keep', END)
  .compile();

/** Clients repeat the region in a header, by which others may route. */
const Regional = new StateSchema({ region: z.string().meta({ 'x-mcp-header': 'Region' }) });

export const regional = new StateGraph(Regional)
  .addNode('keep', () => ({}))
  .addEdge(START, 'keep')
  .addEdge('keep', END)
  .compile();
