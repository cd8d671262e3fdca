import { TOPICS, type TopicName } from '@runyard/contracts';

/**
 * Returns the stream of a topic. All keys of a bus share a hash tag, because members read several topics in one
 * command.
 */
export function streamKey(prefix: string, topic: TopicName): string {
  return `{${prefix}}:bus:${TOPICS[topic].name}`;
}
