import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { checkHost } from './request-host.ts';

it('a request with two hosts is refused: those behind the gateway would take another than it has', () => {
  const rawHeaders = ['Host', 'a.test', 'accept', 'host', 'HOST', 'b.test'];
  const request = { rawHeaders, headers: { host: 'a.test' } } as unknown as IncomingMessage;
  expect(() => checkHost(request, false)).toThrow('There is more than one Host header');
  const one = { ...request, rawHeaders: rawHeaders.slice(0, 4) } as IncomingMessage;
  expect(() => checkHost(one, false)).not.toThrow();
});
