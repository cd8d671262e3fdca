import { diffJson } from '../../components/json-diff.ts';

type Values = Record<string, unknown>;

/** An edited state, as the update of its channels that makes it. */
export interface StateUpdate {
  /** The channels that differ, with what is written to each. */
  values: Values;
  /** Channels that were left out, which no update can remove. */
  missing: string[];
}

/** Returns the update that makes `after` of `before`. */
export function stateUpdate(before: Values, after: Values): StateUpdate {
  const changed = Object.entries(after).filter(([name, value]) => !isEqual(before[name], value));
  return {
    values: Object.fromEntries(changed.map(([name, value]) => [name, written(before[name], value)])),
    missing: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
  };
}

/**
 * Returns the channels of `wanted` that have another value in `values`, as their reducers made something else of them.
 * Messages are not compared: LangChain adds ids and fields to those that are new.
 */
export function differingChannels(wanted: Values, values: Values): string[] {
  return Object.keys(wanted).filter((name) => !messagesById(wanted[name]) && !isEqual(wanted[name], values[name]));
}

/** Returns an update that takes the place of the values of channels, past their reducers. */
export function overwriting(wanted: Values, channels: readonly string[]): Values {
  return Object.fromEntries(channels.map((name) => [name, { __overwrite__: wanted[name] }]));
}

/** Returns the values of a state by channel; undefined where it has none, as that of a graph with one channel only. */
export function channelsOf(values: unknown): Values | undefined {
  return typeof values === 'object' && values !== null && !Array.isArray(values) ? (values as Values) : undefined;
}

/**
 * Returns what is written to a channel. The reducer of messages replaces those of the same id, adds others, and removes
 * those that are named in a message of type `remove`; any other channel is written whole.
 */
function written(before: unknown, after: unknown): unknown {
  const [earlier, later] = [messagesById(before), messagesById(after)];
  if (!earlier || !later) return after;
  const removed = [...earlier.keys()].filter((id) => !later.has(id));
  return [
    ...removed.map((id) => ({ type: 'remove', id, content: '' })),
    ...(after as Values[]).filter((message) => !isEqual(earlier.get(String(message.id)), message)),
  ];
}

/** Returns messages by id, those without one left out; undefined where a value is no list of messages. */
function messagesById(value: unknown): Map<string, Values> | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const found = new Map<string, Values>();
  for (const entry of value) {
    const message = channelsOf(entry);
    if (typeof message?.type !== 'string' || !('content' in message)) return undefined;
    if (typeof message.id === 'string') found.set(message.id, message);
  }
  return found;
}

function isEqual(one: unknown, other: unknown): boolean {
  return diffJson(one, other, { max: 1 }).length === 0;
}
