import type { BoundOperation, HandlerRequest } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { changeOrigin, withChangeOrigin } from './change-origin.ts';

const OPERATION = { operationId: 'updateOrganizationInfo', method: 'patch', path: '/x' } as BoundOperation['operation'];

/** Returns the address that is recorded for a request with this `X-Forwarded-For` from 10.0.0.1. */
async function addressOf(forwarded: string | undefined): Promise<string | null> {
  let address: string | null = null;
  const handler: BoundOperation['handler'] = async () => {
    address = changeOrigin().address;
    return { status: 204 } as never;
  };
  const request = {
    caller: { kind: 'anonymous', identity: '' },
    headers: { 'x-forwarded-for': forwarded },
    raw: { socket: { remoteAddress: '10.0.0.1' }, headers: {} },
  } as unknown as HandlerRequest;
  await withChangeOrigin({ operation: OPERATION, handler } as BoundOperation).handler(request);
  return address;
}

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8::1', '2001:db8::1'],
  [undefined, '10.0.0.1'],
  ['', '10.0.0.1'],
  ['somewhere', '10.0.0.1'],
  ['192.0.2.66, 203.0.113.9', '10.0.0.1'],
])(
  'a change that came with the addresses %j has the one that the gateway named, or that of its peer',
  async (sent, expected) => {
    expect(await addressOf(sent)).toBe(expected);
  },
);
