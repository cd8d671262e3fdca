import { expect, it } from 'vitest';
import { readTraceContext } from './trace-context.ts';

const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

it('the trace of a request is that of its valid traceparent, with the state beside it', () => {
  const traceparent = `00-${trace}-${span}-01`;
  expect(readTraceContext({ traceparent, tracestate: 'a=1,b=2' })).toEqual({ traceparent, tracestate: 'a=1,b=2' });
  // A later version may add fields, and flags that mean nothing here.
  expect(readTraceContext({ traceparent: `01-${trace}-${span}-03-more` })).toEqual({ traceparent });
});

it.each([
  ['none', undefined],
  ['not one', 'hello'],
  ['in upper case', `00-${trace.toUpperCase()}-${span}-01`],
  ['of version ff', `ff-${trace}-${span}-01`],
  ['with more than its version has', `00-${trace}-${span}-01-more`],
  ['of no trace', `00-${'0'.repeat(32)}-${span}-01`],
  ['of no span', `00-${trace}-${'0'.repeat(16)}-01`],
])('a request with a traceparent that is %s belongs to no trace', (_what, traceparent) => {
  expect(readTraceContext({ traceparent, tracestate: 'a=1' })).toBeUndefined();
});

it.each([['a'.repeat(513)], ['a=1\r\nx: y']])('a state that is too long or no header is dropped', (tracestate) => {
  const traceparent = `00-${trace}-${span}-00`;
  expect(readTraceContext({ traceparent, tracestate })).toEqual({ traceparent });
});
