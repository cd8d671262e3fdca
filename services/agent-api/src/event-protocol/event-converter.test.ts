import { CONTROL_KINDS, gapAfter, type StreamEntry } from '@runyard/run-stream';
import { expect, it } from 'vitest';
import { EventConverter } from './event-converter.ts';
import { renderEvent } from './thread-event.ts';

const MS = 1_795_206_692_697;

/** Returns the events of these entries as clients get them. */
function convert(entries: Partial<StreamEntry>[], converter = new EventConverter()) {
  return entries
    .map((entry, n) => ({
      id: `${MS}-${n}`,
      runId: 'r',
      attempt: 1,
      isResumable: true,
      event: '',
      data: '{}',
      ...entry,
    }))
    .flatMap((entry) => converter.convert(entry as StreamEntry))
    .map((event) => JSON.parse(renderEvent(event)));
}
const begun = { kind: 'metadata', data: '{"run_id":"r","attempt":1}' };
const end = (data: string) => ({ kind: CONTROL_KINDS.end, data });
const lifecycles = (entries: Partial<StreamEntry>[]) =>
  convert(entries)
    .filter(({ method }) => method === 'lifecycle')
    .map(({ params }) => params.data);

it('an event of a graph has its place in the thread beside what the graph said', () => {
  const data = '{"timestamp":5,"node":"n","data":{"a":1}}';
  const [event] = convert([{ kind: 'v2.values', event: 'values|a:1|b:2', data }]);
  expect(event).toEqual({
    type: 'event',
    event_id: String(MS * 1000),
    seq: MS * 1000,
    method: 'values',
    params: { namespace: ['a:1', 'b:2'], timestamp: 5, node: 'n', data: { a: 1 } },
  });
});

it('the root lifecycle begins once per run, and ends as the run did', () => {
  const error = { kind: 'error', data: '{"error":"RangeError","message":"Boo!"}' };
  const input = { kind: 'v2.input', event: 'input.requested', data: '{"timestamp":1,"data":{"interrupt_id":"i"}}' };
  expect(lifecycles([begun, { ...begun, attempt: 2 }, end('{"status":"success"}')])).toEqual([
    { event: 'running' },
    { event: 'completed' },
  ]);
  expect(lifecycles([error, end('{"status":"error"}')])).toEqual([{ event: 'failed', error: error.data }]);
  expect(lifecycles([end('{"waits_for_input":true,"status":"success"}')])).toEqual([{ event: 'interrupted' }]);
  expect(lifecycles([input, end('{"status":"success"}')])).toEqual([{ event: 'interrupted' }]);
  expect(lifecycles([end('{"status":"interrupted"}')])).toEqual([{ event: 'interrupted' }]);
});

it('an interrupt is requested once, also when a later attempt of the run meets it again', () => {
  const input = { kind: 'v2.input', event: 'input.requested', data: '{"timestamp":1,"data":{"interrupt_id":"i"}}' };
  expect(convert([input, input]).map(({ method }) => method)).toEqual(['input.requested']);
});

it('values with a key of interrupts somewhere inside of them are values', () => {
  const values = [{ answer: { __interrupt__: [{ id: 'x', value: 1 }] } }, { text: '"__interrupt__"' }, []];
  const entries = values.map((each) => ({ kind: 'values', event: 'values', data: JSON.stringify(each) }));
  expect(convert(entries).map(({ method, params: { data } }) => [method, data])).toEqual(
    values.map((each) => ['values', each]),
  );
});

it('missing events are reported with the number of the last one before them', () => {
  const [gap] = convert([{ ...gapAfter(`${MS}-1`, 'lost'), runId: '' }]);
  expect(gap).toMatchObject({ method: 'gap', params: { data: { reason: 'lost', after: MS * 1000 + 1 } } });
});

it('what a run emits for stream modes is converted as far as it can be, each event with an id of its own', () => {
  const interrupts = [
    { id: 'i', value: 'ok?' },
    { id: 'j', value: null },
  ];
  const events = convert([
    { kind: 'values', event: 'values|child:1', data: '{"a":1}' },
    { kind: 'updates', event: 'updates', data: '{"one":{"a":1},"two":null}' },
    { kind: 'custom', event: 'custom', data: '{"progress":1}' },
    { kind: 'tasks', event: 'tasks', data: '{"id":"t"}' },
    {
      kind: 'checkpoints',
      event: 'checkpoints',
      data: '{"config":{"configurable":{"checkpoint_id":"c"}},"parent_config":null,"metadata":{"step":0,"source":"loop"}}',
    },
    { kind: 'values', event: 'values', data: JSON.stringify({ a: 1, __interrupt__: interrupts }) },
    { kind: 'updates', event: 'updates', data: JSON.stringify({ __interrupt__: interrupts }) },
    { kind: 'messages-tuple', event: 'messages', data: '[{},{}]' },
    { kind: CONTROL_KINDS.state, event: 'state_update', data: '{}' },
  ]);
  expect(events.map(({ method, params: { namespace, node, data } }) => [method, namespace, node, data])).toEqual([
    ['values', ['child:1'], undefined, { a: 1 }],
    ['updates', [], 'one', { node: 'one', values: { a: 1 } }],
    ['updates', [], 'two', { node: 'two', values: null }],
    ['custom', [], undefined, { payload: { progress: 1 } }],
    ['tasks', [], undefined, { id: 't' }],
    ['checkpoints', [], undefined, { id: 'c', step: 0, source: 'loop' }],
    ['input.requested', [], undefined, { interrupt_id: 'i', payload: 'ok?' }],
    ['input.requested', [], undefined, { interrupt_id: 'j', payload: null }],
  ]);
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
});
