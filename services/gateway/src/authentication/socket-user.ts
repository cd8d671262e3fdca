import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import ipaddr from 'ipaddr.js';

/** A client's socket may be of either family: of IPv6 ones that connect to an IPv4 address too. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const ESTABLISHED = '01';
/** The inode of a socket that its process has closed; its user is shown as root then. */
const CLOSED = '0';

const found = new WeakMap<Socket, Promise<number | undefined>>();

/**
 * Finds the user whose process opened a connection from this machine, in the system's tables of sockets; once for each
 * connection. Undefined where the system does not tell: on others than Linux, for a client that has closed its socket,
 * and for one in another network namespace.
 */
export function findSocketUser(socket: Socket): Promise<number | undefined> {
  const known = found.get(socket) ?? lookUp(socket);
  found.set(socket, known);
  return known;
}

async function lookUp({ remoteAddress, remotePort, localAddress, localPort }: Socket): Promise<number | undefined> {
  if (!remoteAddress || !remotePort || !localAddress || !localPort) return undefined;
  // The client's own entry has the addresses the other way round.
  const clients = new Set(formsOf(remoteAddress, remotePort));
  const servers = new Set(formsOf(localAddress, localPort));
  for (const table of TABLES) {
    for (const line of (await readFile(table, 'latin1').catch(() => '')).split('\n')) {
      const [, local = '', remote = '', state, , , , user, , inode] = line.trim().split(/\s+/);
      if (!clients.has(local) || !servers.has(remote)) continue;
      return state === ESTABLISHED && inode !== CLOSED ? Number(user) : undefined;
    }
  }
  return undefined;
}

/** Returns an address and port as the tables have them: for IPv4 also as an IPv6 socket has it. */
function formsOf(address: string, port: number): string[] {
  const parsed = ipaddr.process(address);
  const addresses = parsed.kind() === 'ipv4' ? [parsed, (parsed as ipaddr.IPv4).toIPv4MappedAddress()] : [parsed];
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return addresses.map((each) => hexOf(Buffer.from(each.toByteArray())) + suffix);
}

/** Returns bytes as the kernel prints them: in words of 32 bits, each in the machine's own order. */
function hexOf(bytes: Buffer): string {
  if (endianness() === 'LE') bytes.swap32();
  return bytes.toString('hex').toUpperCase();
}
