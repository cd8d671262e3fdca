import { expect, it } from 'vitest';
import { readLangsmithTrace } from './langsmith-trace.ts';

const trace = '20261123T180000000000Z0199a7c2-0000-7000-8000-000000000001';

it('baggage of others counts beside the trace of LangSmith alone, and three members of it', () => {
  const baggage =
    'langsmith-metadata=%7B%22a%22%3A1%7D,langsmith-tags=x;p=1, langsmith-project=mine,langsmith-replicas=%5B%5D,user=ada';
  const believed = 'langsmith-metadata=%7B%22a%22%3A1%7D,langsmith-tags=x,langsmith-project=mine';
  expect(readLangsmithTrace({ 'langsmith-trace': trace, baggage })).toEqual({ trace, baggage: believed });
  expect(readLangsmithTrace({ baggage })).toBeUndefined();
  expect(readLangsmithTrace({ 'langsmith-trace': trace, baggage: 'user=ada' })).toEqual({ trace });
});

it.each(['', 'hello', `${trace}.`, `${trace}.${'x'.repeat(60)}`, Array(70).fill(trace).join('.')])(
  'a trace of LangSmith that is none is not passed on: %.40s',
  (sent) => {
    expect(readLangsmithTrace({ 'langsmith-trace': sent, baggage: 'langsmith-project=mine' })).toBeUndefined();
  },
);

it('baggage that is too large is dropped', () => {
  const baggage = `langsmith-tags=${'x'.repeat(9_000)}`;
  expect(readLangsmithTrace({ 'langsmith-trace': trace, baggage })).toEqual({ trace });
});
