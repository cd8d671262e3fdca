import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { OutboundPolicy } from './outbound-policy.ts';

/** Resolves names: `dns.lookup`, or a fake in tests. */
export type Lookup = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Makes a lookup for sockets that returns only permitted addresses. The socket connects to the returned address and
 * does not resolve again, so a name cannot mean one address when checked and another when connected to. One forbidden
 * address among several refuses the name, because a host that mixes them is suspicious.
 */
export function createCheckedLookup(policy: OutboundPolicy, lookup: Lookup): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      try {
        for (const { address } of addresses) policy.checkResolved(address);
      } catch (refusal) {
        return callback(refusal as Error, '', 0);
      }
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      if (!first) return callback(Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' }), '', 0);
      return callback(null, first.address, first.family);
    });
  };
}
