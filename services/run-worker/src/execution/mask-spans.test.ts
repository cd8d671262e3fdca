import type { RunSpan } from '@runyard/host-protocol';
import { expect, it } from 'vitest';
import { maskSpan } from './mask-spans.ts';

const span = (attributes: RunSpan['attributes'], more: Partial<RunSpan> = {}): RunSpan => ({
  spanId: 'a'.repeat(16),
  parentSpanId: 'b'.repeat(16),
  name: 'chat model',
  kind: 'client',
  startMs: 1,
  endMs: 2,
  attributes,
  ...more,
});

it('what people and models said leaves a span unless it is asked for, also where the code of a project adds it', () => {
  const attributes = { 'gen_ai.input.messages': '[]', 'gen_ai.tool.call.arguments': '{}', 'gen_ai.tool.name': 'look' };
  expect(maskSpan(span(attributes), { capturesContent: false }).attributes).toEqual({ 'gen_ai.tool.name': 'look' });
  expect(maskSpan(span(attributes), { capturesContent: true }).attributes).toEqual(attributes);
  const failed = span({}, { error: { type: 'RangeError', message: 'no answer to "who am I?"' } });
  expect(maskSpan(failed, { capturesContent: false }).error).toEqual({ type: 'RangeError', message: '' });
  expect(maskSpan(failed, { capturesContent: true }).error).toEqual(failed.error);
});

it('credentials in what was said, in names and in errors are masked', () => {
  const error = { type: 'Error', message: 'no answer from postgres://me:hunter2@db.internal:5432/x' };
  const said = { 'gen_ai.input.messages': 'my key is sk-abcdefghijkl, password: hunter22' };
  const masked = maskSpan(span(said, { name: 'chat sk-abcdefghijkl', error }), { capturesContent: true });
  expect(JSON.stringify(masked)).not.toMatch(/abcdefghijkl|hunter2|db\.internal/);
});

it('a span of a project has known attributes, a limited number of them, and limited texts', () => {
  const many = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`gen_ai.own.n${index}`, 'x'.repeat(100_000)]),
  );
  const { attributes, name } = maskSpan(span({ 'service.name': 'forged', ...many }, { name: 'x'.repeat(1_000) }), {
    capturesContent: true,
  });
  expect(attributes).not.toHaveProperty('service.name');
  expect(Object.keys(attributes)).toHaveLength(64);
  expect(attributes['gen_ai.own.n0']).toHaveLength(48 * 1024);
  expect(name).toHaveLength(200);
});
