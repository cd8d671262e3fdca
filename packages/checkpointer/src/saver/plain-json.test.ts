import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { MemorySaver, type SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { expect, it } from 'vitest';
import { withPlainJson } from './plain-json.ts';

const own = new MemorySaver().serde;

/** Counts what the serializer below is asked. */
function counting(): { serde: SerializerProtocol; asked: () => number } {
  let asked = 0;
  const count = <T>(answer: T): T => {
    asked += 1;
    return answer;
  };
  const serde = withPlainJson({
    dumpsTyped: async (value) => count(own.dumpsTyped(value)),
    loadsTyped: async (type, data) => count(own.loadsTyped(type, data)),
  });
  return { serde, asked: () => asked };
}

const circle: Record<string, unknown> = { name: 'circle' };
circle.self = circle;
circle.again = [circle, circle];
const nested = Array.from({ length: 1_000 }).reduce<unknown>((inner) => ({ inner }), 'deep');
const withoutPrototype = Object.assign(Object.create(null), { a: 1 });

const PLAIN = [
  null,
  'text',
  '',
  0,
  -0,
  Number.NaN,
  true,
  [],
  {},
  { list: [1, 'a', null, { deep: [[]] }], 'odd key \u0000 \ud800': 'odd text \u0000 \udfff é 😀' },
  withoutPrototype,
];

const OTHERS = [
  undefined,
  { missing: undefined },
  [undefined],
  // biome-ignore lint/suspicious/noSparseArray: its hole is no value of JSON.
  [1, , 2],
  new Date(0),
  new Map([['a', { b: 1 }]]),
  { set: new Set([1]) },
  new Error('failed'),
  /a+/g,
  new Uint8Array([1, 2]),
  { bytes: new Uint8Array([1, 2]) },
  [new HumanMessage('hi'), new AIMessage('hello')],
  { lg_name: 'Send', node: 'a', args: {}, more: 1 },
  { toJSON: () => 'own form' },
  { call: () => 1 },
  { lc: 1, type: 'not_implemented', id: ['a'] },
  { lc: 2, type: 'undefined' },
  JSON.parse('{"__proto__":{"a":1},"b":2}'),
  circle,
  nested,
];

it.each([...PLAIN, ...OTHERS].map((value) => [value]))(
  "%# is written and read as LangGraph's serializer does",
  async (value) => {
    const { serde } = counting();
    const [type, data] = await serde.dumpsTyped(value);
    const [ownType, ownData] = await own.dumpsTyped(value);
    expect(type).toBe(ownType);
    expect(Buffer.from(data)).toEqual(Buffer.from(ownData));
    expect(await serde.loadsTyped(type, data)).toEqual(await own.loadsTyped(ownType, ownData));
  },
);

it('plain data is neither written nor read by the serializer, other values are', async () => {
  const plain = counting();
  for (const value of PLAIN) await plain.serde.loadsTyped(...(await plain.serde.dumpsTyped(value)));
  expect(plain.asked()).toBe(0);
  for (const value of OTHERS) {
    const other = counting();
    await other.serde.loadsTyped(...(await other.serde.dumpsTyped(value)));
    expect(other.asked()).toBeGreaterThan(0);
  }
});
