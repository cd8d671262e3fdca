import ipaddr from 'ipaddr.js';
import { matchesNetwork, type Network, parseNetwork } from '../requests/network.ts';
import type { KeyChecker } from './key-check.ts';

/** Parsed networks of an answer, which many requests share. */
const parsed = new WeakMap<readonly string[], Network[]>();

/** Makes good answers depend on the client's address, where the organization limits those. */
export function limitToNetworks(check: KeyChecker, address: string): KeyChecker {
  return async (request) => {
    const answer = await check(request);
    if (answer.kind !== 'good' || answer.allowedNetworks === undefined) return answer;
    return isWithin(answer.allowedNetworks, address) ? answer : { kind: 'address_not_allowed' };
  };
}

/** Returns whether an address is in one of the networks. An entry that is none has no addresses. */
function isWithin(networks: readonly string[], text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return networksOf(networks).some((network) => matchesNetwork(address, network));
}

function networksOf(texts: readonly string[]): Network[] {
  let networks = parsed.get(texts);
  if (!networks) {
    networks = texts.flatMap((text) => parseNetwork(text) ?? []);
    parsed.set(texts, networks);
  }
  return networks;
}
