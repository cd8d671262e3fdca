import type { TSchema } from 'typebox';
import { TOPICS } from './events/index.ts';
import { QUEUES } from './queues/index.ts';
import { hoistSchemas } from './schema-components.ts';

const COMPONENTS = '#/components/schemas/';

interface Channel {
  address: string;
  description: string;
  messages: Record<string, { $ref: string }>;
  bindings?: Record<string, unknown>;
}

export interface AsyncApiDocument {
  asyncapi: '3.0.0';
  info: { title: string; version: string; description: string };
  defaultContentType: 'application/json';
  channels: Record<string, Channel>;
  operations: Record<string, unknown>;
  components: { messages: Record<string, unknown>; schemas: Record<string, unknown> };
}

/** Builds the AsyncAPI 3 document of all asynchronous messages: bus topics and work queues. */
export function buildAsyncApi(info: { title: string; version: string }): AsyncApiDocument {
  const document: AsyncApiDocument = {
    asyncapi: '3.0.0',
    info: {
      ...info,
      description:
        'Topics carry CloudEvents 1.0 in structured JSON, on Kafka or on Redis Streams, under a configurable prefix. ' +
        'An event may arrive more than once; its id stays the same. Fields are only ever added.',
    },
    defaultContentType: 'application/json',
    channels: {},
    operations: {},
    components: { messages: {}, schemas: {} },
  };
  for (const [id, topic] of Object.entries(TOPICS)) {
    const names = topic.events.map((event) => addMessage(document, event, 'application/cloudevents+json'));
    addChannel(document, id, { address: topic.name, description: `Keyed by ${topic.key}; in order per key.` }, names);
    document.channels[id]!.bindings = { kafka: { topic: topic.name } };
    addOperation(document, `publish_${id}`, 'send', id, `Events of ${topic.name} are published.`);
    addOperation(document, `follow_${id}`, 'receive', id, `Events of ${topic.name} are followed.`);
  }
  for (const [id, queue] of Object.entries(QUEUES)) {
    const name = addMessage(document, queue.job, 'application/json');
    addChannel(document, id, { address: queue.name, description: 'A BullMQ queue on Redis.' }, [name]);
    addOperation(document, `send_${id}`, 'send', id, `Jobs are added by ${queue.sender}.`);
    addOperation(document, `work_${id}`, 'receive', id, `Jobs are worked off by ${queue.receiver}.`);
  }
  return document;
}

function addMessage(document: AsyncApiDocument, schema: TSchema, contentType: string): string {
  const { $id: name, examples } = schema as { $id: string; examples: readonly unknown[] };
  document.components.messages[name] = {
    name,
    contentType,
    payload: hoistSchemas(schema, document.components.schemas, COMPONENTS),
    examples: examples.map((payload) => ({ payload })),
  };
  return name;
}

function addChannel(
  document: AsyncApiDocument,
  id: string,
  { address, description }: { address: string; description: string },
  messages: string[],
): void {
  document.channels[id] = {
    address,
    description,
    messages: Object.fromEntries(messages.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
  };
}

function addOperation(
  document: AsyncApiDocument,
  name: string,
  action: 'send' | 'receive',
  channel: string,
  summary: string,
): void {
  document.operations[name] = { action, channel: { $ref: `#/channels/${channel}` }, summary };
}
