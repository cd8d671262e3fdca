import { expect, it } from 'vitest';
import { type EventFilter, matchesFilter } from './event-filter.ts';

const at = (...namespace: string[]) => ({ channel: 'values' as const, namespace });
const named = { channel: 'custom' as const, namespace: [], customName: 'steps' };

it.each<[what: string, filter: EventFilter, event: Parameters<typeof matchesFilter>[1], isWanted: boolean]>([
  ['a wanted channel', { channels: ['values'] }, at(), true],
  ['another channel', { channels: ['updates'] }, at(), false],
  ['a custom event by the name of the channel', { channels: ['custom'] }, named, true],
  ['a custom event by its own name', { channels: ['custom:steps'] }, named, true],
  ['a custom event of another name', { channels: ['custom:hops'] }, named, false],
  ['a namespace below the wanted one', { channels: ['values'], namespaces: [['a']] }, at('a', 'b:1'), true],
  ['a namespace beside it', { channels: ['values'], namespaces: [['a']] }, at('b', 'a'), false],
  ['a namespace above it', { channels: ['values'], namespaces: [['a', 'b']] }, at('a'), false],
  ['any task of a node', { channels: ['values'], namespaces: [['a']] }, at('a:1'), true],
  ['a task of a node', { channels: ['values'], namespaces: [['a:1']] }, at('a:1'), true],
  ['another task of the node', { channels: ['values'], namespaces: [['a:2']] }, at('a:1'), false],
  ['a namespace at the depth', { channels: ['values'], namespaces: [[]], depth: 1 }, at('a'), true],
  ['a namespace below the depth', { channels: ['values'], namespaces: [[]], depth: 1 }, at('a', 'b'), false],
  ['one of several namespaces', { channels: ['values'], namespaces: [['b'], ['a']] }, at('a'), true],
  ['no namespace named', { channels: ['values'], namespaces: [] }, at('a'), true],
  ['missing events', { channels: ['updates'] }, { channel: 'gap', namespace: [] }, true],
])('a subscriber gets what it asked for: %s', (_what, filter, event, isWanted) => {
  expect(matchesFilter(filter, event)).toBe(isWanted);
});
