import { expect, it } from 'vitest';
import { JsonBytes, jsonPieces } from './json-bytes.ts';

it('a message with values as bytes is the same JSON as with the values, and copies none of them', () => {
  const state = { text: 'ä "quoted" \\ \n', list: [1, null] };
  const [asText, asValue] = [JsonBytes.of(JSON.stringify(state)), JsonBytes.of(state)];
  const message = (text: unknown, value: unknown) => ({
    id: 1,
    result: { content: [{ type: 'text', text }, { data: 'x' }], value },
  });
  const pieces = jsonPieces(message(asText, asValue));
  expect(Buffer.concat(pieces).toString()).toBe(JSON.stringify(message(JSON.stringify(state), state)));
  expect(pieces).toContain(asText.bytes);
  expect(pieces).toContain(asValue.bytes);
  expect(Buffer.concat(jsonPieces({ plain: true })).toString()).toBe('{"plain":true}');
});
