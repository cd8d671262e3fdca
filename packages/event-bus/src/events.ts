import { type CloudEvent, conforms, type DataOf, TOPICS, type TopicName } from '@runyard/contracts';
import type { TSchema } from 'typebox';
import { v7 as uuidv7 } from 'uuid';

/** The data of an event schema; unknown for a schema that is only known to be one. */
type EventData<T extends TSchema> = [DataOf<T>] extends [never] ? unknown : DataOf<T>;

export interface EventParts<Data> {
  /** `/runyard/<service>[/<instance>]`. */
  source: string;
  /** What the event is about: the id the topic is keyed by. */
  subject: string;
  data: Data;
}

/** Makes an event of the schema, with an id of its own that sorts by time. Throws when the data is not what the schema says. */
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

/** Why a received value is not delivered. */
export type Unacceptable = 'not JSON' | 'unknown type' | 'invalid';

/** Reads what came over the bus: an event of the topic, or why it is none. */
export function readEvent(topic: TopicName, text: string): CloudEvent | Unacceptable {
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

/** The topic of a stored name, which may be the short name (`runs`) or the full one (`runyard.runs`). */
export function topicOf(name: string): TopicName | undefined {
  return topicNames.find((topic) => topic === name || TOPICS[topic].name === name);
}

export const topicNames = Object.keys(TOPICS) as TopicName[];

function typeOf(schema: TSchema): string {
  return (schema as unknown as { properties: { type: { const: string } } }).properties.type.const;
}
