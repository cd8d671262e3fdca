import { isIP } from 'node:net';
import { InvalidFieldError } from '@runyard/service-kit';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Checks a list of addresses and networks.
 *
 * @throws InvalidFieldError for the first entry that is neither, or is not the first address of its network
 */
export function requireNetworks(allowlist: readonly string[]): void {
  for (const [index, text] of allowlist.entries()) {
    const network = parseNetwork(text);
    if (network && isFirstOf(network)) continue;
    throw new InvalidFieldError(
      ['body', 'ip_allowlist', index],
      'It must be an address, or a network like 192.0.2.0/24 without further bits.',
    );
  }
}

/** Returns whether a list lets an address in. */
export function letsIn(allowlist: readonly string[], address: string | null): boolean {
  if (address === null || !ipaddr.isValid(address)) return false;
  const from = ipaddr.process(address);
  return allowlist.some((text) => {
    const network = parseNetwork(text);
    return network !== undefined && network[0].kind() === from.kind() && from.match(network[0], network[1]);
  });
}

function parseNetwork(text: string): [Address, number] | undefined {
  // The library takes short forms too, such as 10.1.
  if (isIP(text.split('/')[0]!) === 0) return undefined;
  try {
    return ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
  } catch {
    return undefined;
  }
}

function isFirstOf([address, bits]: [Address, number]): boolean {
  const bytes = address.toByteArray();
  return bytes.every((byte, index) => {
    const free = Math.min(8, Math.max(0, (index + 1) * 8 - bits));
    return (byte & ((1 << free) - 1)) === 0;
  });
}
