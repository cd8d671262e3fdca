/**
 * The form in which a host emits events of the event protocol (version 2), and in which a thread's stream has them:
 * - mode: `v2.` and the channel;
 * - event: the method, then the namespace, between `|`; a custom event with a name has the method `custom:<name>`;
 * - data: JSON text of an object with `timestamp` (milliseconds), `node` where one made the event, and `data`.
 *
 * Everything that decides whether a subscriber gets an event is thus known without parsing its data.
 */
export type ProtocolChannel =
  | 'values'
  | 'updates'
  | 'messages'
  | 'tools'
  | 'lifecycle'
  | 'input'
  | 'checkpoints'
  | 'tasks'
  | 'custom';

const MODE_PREFIX = 'v2.';
const NAMED_CUSTOM = 'custom:';

export interface ProtocolEventPlace {
  channel: ProtocolChannel;
  namespace: string[];
  /** The name of a custom event. */
  customName?: string | undefined;
}

export function protocolModeOf(channel: ProtocolChannel): string {
  return MODE_PREFIX + channel;
}

/** Returns whether events of this mode belong to the event protocol. */
export function isProtocolMode(mode: string): boolean {
  return mode.startsWith(MODE_PREFIX);
}

export function protocolEventName({ channel, namespace, customName }: ProtocolEventPlace): string {
  const method = customName === undefined ? methodOf(channel) : NAMED_CUSTOM + encodeURIComponent(customName);
  return [method, ...namespace].join('|');
}

/** Reads mode and event name of an event of the event protocol. */
export function parseProtocolEvent(mode: string, event: string): ProtocolEventPlace {
  const [method = '', ...namespace] = event.split('|');
  const channel = mode.slice(MODE_PREFIX.length) as ProtocolChannel;
  if (!method.startsWith(NAMED_CUSTOM)) return { channel, namespace };
  return { channel, namespace, customName: decodeURIComponent(method.slice(NAMED_CUSTOM.length)) };
}

/** Returns the method of a channel's events as clients know it. */
export function methodOf(channel: ProtocolChannel): string {
  return channel === 'input' ? 'input.requested' : channel;
}
