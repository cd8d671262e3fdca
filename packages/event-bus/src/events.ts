import { type CloudEvent, conforms, type DataOf, TOPICS, type TopicName } from '@runyard/contracts';
import type { TSchema } from 'typebox';
import { v7 as uuidv7 } from 'uuid';

/** The data type of an event schema; unknown when the schema type is not specific. */
type EventData<T extends TSchema> = [DataOf<T>] extends [never] ? unknown : DataOf<T>;

export interface EventParts<Data> {
  /** The service that makes the event: `/runyard/<service>[/<instance>]`. */
  source: string;
  /** The id of the event's object, by which the topic is keyed. */
  subject: string;
  data: Data;
}

/** Makes an event of the schema, with a new id that sorts by time. Throws when the data does not match the schema. */
export function makeEvent<T extends TSchema>(schema: T, parts: EventParts<EventData<T>>): CloudEvent<EventData<T>> {
  const event: CloudEvent<EventData<T>> = {
    specversion: '1.0',
    id: uuidv7(),
    source: parts.source,
    type: typeOf(schema),
    subject: parts.subject,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    data: parts.data,
  };
  if (!conforms(schema, event)) throw new TypeError(`Not a valid ${event.type} event.`);
  return event;
}

/** The reason why a received value is not delivered. */
export type EventRejection = 'not JSON' | 'unknown type' | 'invalid';

/** Parses a message: returns an event of the topic, or the reason why it is none. */
export function readEvent(topic: TopicName, text: string): CloudEvent | EventRejection {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not JSON';
  }
  const type = (value as { type?: unknown } | null)?.type;
  const schema = TOPICS[topic].events.find((candidate: TSchema) => typeOf(candidate) === type);
  if (!schema) return 'unknown type';
  return conforms<TSchema>(schema, value) ? (value as CloudEvent) : 'invalid';
}

const topicNames = Object.keys(TOPICS) as TopicName[];

/** Returns the topic of a stored name, which may be the short name (`runs`) or the full one (`runyard.runs`). */
export function findTopic(name: string): TopicName | undefined {
  return topicNames.find((topic) => topic === name || TOPICS[topic].name === name);
}

function typeOf(schema: TSchema): string {
  return (schema as unknown as { properties: { type: { const: string } } }).properties.type.const;
}
