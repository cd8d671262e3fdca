import ipaddr from 'ipaddr.js';

/** An address, and how many of its first bits count. */
export type Network = { address: ipaddr.IPv4 | ipaddr.IPv6; bits: number };

/** Parses an address or a network in CIDR form; undefined for anything else. */
export function parseNetwork(text: string): Network | undefined {
  try {
    const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
    const [address, bits] = ipaddr.parseCIDR(cidr);
    return { address, bits };
  } catch {
    return undefined;
  }
}

export function matchesNetwork(address: ipaddr.IPv4 | ipaddr.IPv6, { address: network, bits }: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
