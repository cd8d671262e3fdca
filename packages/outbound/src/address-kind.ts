import ipaddr from 'ipaddr.js';

/** The kind of an address for callers from outside, who may only name `public` ones. */
export type AddressKind = 'public' | 'localhost' | 'private' | 'link-local' | 'metadata' | 'reserved';

/** Addresses at which clouds serve credentials, in ranges with other uses. Link-local ones are refused anyway. */
const METADATA = new Set([
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2:0:0:0:0:0:254',
  'fd20:ce:0:0:0:0:0:254',
]);
const METADATA_LINK_LOCAL = new Set(['169.254.169.254', '169.254.170.2', '169.254.170.23']);

const KIND_OF_RANGE: Readonly<Record<string, AddressKind>> = {
  loopback: 'localhost',
  unspecified: 'localhost',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  deprecatedSiteLocal: 'private',
  linkLocal: 'link-local',
};

/** The range of IPv6 that Internet registries assign; the rest is reserved, even where no list names it. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Returns the IPv4 address that an IPv6 address stands for (mapped, or behind NAT64), or the address itself. */
export function unwrapAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const address = ipaddr.process(text.replace(/%.*$/s, ''));
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).match(NAT64)) {
    return new ipaddr.IPv4(address.toByteArray().slice(12));
  }
  return address;
}

/** Returns the kind of an address in the form of `net.isIP`, without brackets. */
export function classifyAddress(text: string): AddressKind {
  const address = unwrapAddress(text);
  const name = address.kind() === 'ipv4' ? address.toString() : address.toNormalizedString();
  if (METADATA.has(name) || METADATA_LINK_LOCAL.has(name)) return 'metadata';
  const range = address.range();
  if (range === 'unicast') {
    const isGlobal = address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_IPV6);
    return isGlobal ? 'public' : 'reserved';
  }
  return KIND_OF_RANGE[range] ?? 'reserved';
}
