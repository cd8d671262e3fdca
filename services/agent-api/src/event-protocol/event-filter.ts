import type { ProtocolEventStreamRequest } from '@runyard/contracts';
import type { ThreadEvent } from './thread-event.ts';

/** The events that a subscriber wants. */
export type EventFilter = Omit<ProtocolEventStreamRequest, 'since'>;

export function matchesFilter(
  { channels, namespaces, depth }: EventFilter,
  { channel, namespace, customName }: Pick<ThreadEvent, 'channel' | 'namespace' | 'customName'>,
): boolean {
  if (channel === 'gap') return true;
  const isWanted =
    channels.includes(channel) || (customName !== undefined && channels.includes(`custom:${customName}`));
  if (!isWanted) return false;
  if (namespaces === undefined || namespaces.length === 0) return true;
  return namespaces.some((prefix) => isWithin(namespace, prefix, depth));
}

function isWithin(namespace: string[], prefix: string[], depth = Number.POSITIVE_INFINITY): boolean {
  const below = namespace.length - prefix.length;
  return below >= 0 && below <= depth && prefix.every((segment, index) => isSameSegment(namespace[index]!, segment));
}

/** A segment is `node:task id`; a wanted one without a task means every task of the node. */
function isSameSegment(segment: string, wanted: string): boolean {
  return segment === wanted || (!wanted.includes(':') && segment.split(':', 1)[0] === wanted);
}
