import { expect, it } from 'vitest';
import type { CheckpointPut } from '../backend.ts';
import { searchableMetadata } from './searchable-metadata.ts';

const MARK = { __runyard_mark: 'm"1' };

const putOf = (text: string, more: Partial<CheckpointPut> = {}) =>
  ({ metadata: { type: 'json', data: Buffer.from(text) }, ...more }) as CheckpointPut;
const searched = (put: CheckpointPut, added?: object) =>
  Buffer.from(searchableMetadata(put, added as Record<string, unknown>)).toString();

it('the text of the metadata is searched as it is, without a copy', () => {
  const put = putOf('{"step":1,"writes":{"a":"ü \\n"}}');
  expect(searchableMetadata(put)).toBe(put.metadata.data);
});

it.each([['{"step":1}'], ['{}'], ['{ }'], ['{"a":1} '], ['{"__runyard_mark":"forged"}'], ['{"a":"\\u0001"}']])(
  'a key that is added to %s wins over those of the metadata',
  (text) => {
    expect(JSON.parse(searched(putOf(text), MARK))).toEqual({ ...JSON.parse(text), ...MARK });
  },
);

it('escapes that Postgres refuses are replaced, and the text of a serializer that packs is not searched', () => {
  expect(searched(putOf('{"a":"\\u0000","b":"\\ud800"}'))).toBe('{"a":"\uFFFD","b":"\uFFFD"}');
  expect(searched(putOf('packed', { metadataJson: { step: 1 } }), MARK)).toBe(JSON.stringify({ step: 1, ...MARK }));
});
