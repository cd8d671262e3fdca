import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ClientAddresses } from './client-address.ts';

const request = (remoteAddress: string, forwardedFor?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwardedFor } }) as unknown as IncomingMessage;

describe('the address a request is counted to', () => {
  it('is the peer’s where no proxy is trusted, whatever the request says', () => {
    const addresses = new ClientAddresses({ trustsAll: false });
    expect(addresses.of(request('203.0.113.7', '198.51.100.1'))).toBe('203.0.113.7');
    expect(addresses.trustsHeadersOf(request('203.0.113.7'))).toBe(false);
  });

  it('is the one that the last trusted proxy saw, not one that the client wrote before it', () => {
    const addresses = new ClientAddresses({ trustsAll: false, proxies: ['10.0.0.0/8', 'fd00::1'] });
    expect(addresses.of(request('10.0.0.1', '6.6.6.6, 203.0.113.7, 10.0.0.2'))).toBe('203.0.113.7');
    expect(addresses.of(request('::ffff:10.0.0.1', '203.0.113.7'))).toBe('203.0.113.7');
    expect(addresses.of(request('fd00::1', '203.0.113.7'))).toBe('203.0.113.7');
    expect(addresses.of(request('203.0.113.9', '198.51.100.1'))).toBe('203.0.113.9');
    expect(addresses.trustsHeadersOf(request('203.0.113.9'))).toBe(false);
  });

  it('is the last one named where every peer is believed', () => {
    const addresses = new ClientAddresses({ trustsAll: true });
    expect(addresses.of(request('10.0.0.1', '6.6.6.6, 203.0.113.7'))).toBe('203.0.113.7');
  });

  it('is the proxy’s where it names nobody, or an invalid address', () => {
    const addresses = new ClientAddresses({ trustsAll: true });
    expect(addresses.of(request('10.0.0.1'))).toBe('10.0.0.1');
    expect(addresses.of(request('10.0.0.1', '203.0.113.7, unknown'))).toBe('10.0.0.1');
  });

  it('is the same for all addresses of one IPv6 subscriber', () => {
    const addresses = new ClientAddresses({ trustsAll: false });
    expect(addresses.of(request('2001:db8:1:2:3:4:5:6'))).toBe(addresses.of(request('2001:db8:1:2::9')));
    expect(addresses.of(request('2001:db8:1:2::9'))).not.toBe(addresses.of(request('2001:db8:1:3::9')));
    expect(addresses.of(request('::ffff:203.0.113.7'))).toBe('203.0.113.7');
  });

  it('cannot be configured with an invalid network', () => {
    expect(() => new ClientAddresses({ trustsAll: false, proxies: ['the-proxy'] })).toThrow(
      'TRUSTED_PROXIES: "the-proxy" is no address or network',
    );
  });
});
