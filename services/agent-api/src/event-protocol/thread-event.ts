import { methodOf, type ProtocolChannel } from '@runyard/host-protocol';

/** One event of the event protocol. */
export interface ThreadEvent {
  /** It never repeats on a thread. */
  eventId: string;
  /** Increases over all channels of the thread. */
  seq: number;
  /** `gap` stands where events are missing: every subscriber gets it. */
  channel: ProtocolChannel | 'gap';
  namespace: string[];
  /** The name of a custom event. */
  customName?: string | undefined;
  /** JSON text of an object: the fields of `params` beside the namespace. */
  params: string;
}

/** An event without its place in the stream. */
export type EventContent = Omit<ThreadEvent, 'eventId' | 'seq'>;

export function eventMethod({ channel }: Pick<ThreadEvent, 'channel'>): string {
  return channel === 'gap' ? 'gap' : methodOf(channel);
}

/** Returns the JSON text of an event as clients get it. */
export function renderEvent(event: ThreadEvent): string {
  const { eventId, seq, namespace, params } = event;
  const about = `"type":"event","event_id":"${eventId}","seq":${seq},"method":"${eventMethod(event)}"`;
  return `{${about},"params":{"namespace":${JSON.stringify(namespace)},${params.slice(1)}}`;
}
