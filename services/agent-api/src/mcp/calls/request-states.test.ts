import { expect, it } from 'vitest';
import { placeOf, RequestStates } from './request-states.ts';

const TTL_MS = 1_000;
const owner = { identity: 'ada', tool: 'echo', arguments: { b: 1, a: [2] } };
const state = { taskId: 't', runId: 'r', answers: { i1: 'secret' } };
const secret = Buffer.alloc(32, 1);

it('a state is read by every process of the deployment, until it expires', () => {
  let now = 0;
  const states = new RequestStates(secret, { ttlMs: TTL_MS, now: () => now });
  const sealed = states.seal(placeOf(owner), state);
  expect(sealed).not.toContain('secret');
  const another = new RequestStates(secret, { ttlMs: TTL_MS, now: () => now });
  expect(another.open(placeOf({ ...owner, arguments: { a: [2], b: 1 } }), sealed)).toEqual(state);
  now = TTL_MS;
  expect(() => states.open(placeOf(owner), sealed)).toThrow(/expired/);
});

it.each([
  ['another caller', { identity: 'bob' }, secret],
  ['another tool', { tool: 'other' }, secret],
  ['other arguments', { arguments: { b: 1 } }, secret],
  ['another deployment', {}, Buffer.alloc(32, 2)],
])('a state is of no use for %s', (_, change, key) => {
  const sealed = new RequestStates(secret, { ttlMs: TTL_MS }).seal(placeOf(owner), state);
  const open = () => new RequestStates(key, { ttlMs: TTL_MS }).open(placeOf({ ...owner, ...change }), sealed);
  expect(open).toThrow(expect.objectContaining({ code: -32602 }));
});

it.each(['', 'x', 's1.a.b', 's1..'])('what is no state (%j) is refused', (text) => {
  const states = new RequestStates(secret, { ttlMs: TTL_MS });
  expect(() => states.open(placeOf(owner), text)).toThrow(expect.objectContaining({ code: -32602 }));
});
