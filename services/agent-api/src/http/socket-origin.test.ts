import type { IncomingHttpHeaders } from 'node:http';
import { ANY_ORIGIN } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { requireSocketOrigin } from './socket-origin.ts';

const CHAT = { origins: ['https://chat.example.com'] };
const host = 'agents.example.com';
const elsewhere = 'https://evil.example';
const cookie = 'session=of-bob';
const isAdmitted = (headers: IncomingHttpHeaders, rules = ANY_ORIGIN as Pick<typeof ANY_ORIGIN, 'origins'>) => {
  try {
    requireSocketOrigin({ host, ...headers }, rules);
    return true;
  } catch {
    return false;
  }
};

it('a page of another origin opens no websocket with what its browser adds by itself', () => {
  for (const origin of [elsewhere, 'null', 'https://agents.example.com.evil.example', 'not an origin'])
    for (const proof of [{ cookie }, { authorization: 'Basic Ym9iOnNlY3JldA==' }])
      expect(isAdmitted({ origin, ...proof }), origin).toBe(false);
  expect(isAdmitted({ origin: elsewhere, cookie, 'x-forwarded-host': 'agents.example.com' })).toBe(false);
});

it('a page opens websockets of its own host, of a deployment that names it, and without any proof', () => {
  expect(isAdmitted({ origin: `https://${host}`, cookie })).toBe(true);
  expect(isAdmitted({ origin: 'https://a.example.com', 'x-forwarded-host': 'a.example.com', cookie })).toBe(true);
  expect(isAdmitted({ origin: 'https://chat.example.com', cookie }, CHAT)).toBe(true);
  expect(isAdmitted({ origin: 'http://localhost:3000', cookie })).toBe(true);
  expect(isAdmitted({ origin: elsewhere })).toBe(true);
  expect(isAdmitted({ origin: elsewhere }, CHAT)).toBe(false);
});

it('a program opens websockets with its key, or without an origin, whatever else it sends', () => {
  expect(isAdmitted({ origin: elsewhere, cookie, authorization: 'Bearer token' })).toBe(true);
  expect(isAdmitted({ origin: elsewhere, cookie, 'x-api-key': 'key' })).toBe(true);
  expect(isAdmitted({ cookie }, CHAT)).toBe(true);
});
