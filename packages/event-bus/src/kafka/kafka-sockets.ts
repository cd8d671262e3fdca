import { connect, isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

const KEEP_ALIVE_MS = 60_000;

/**
 * Opens connections like kafkajs, but to `loopbackHost` where a broker's address is a loopback address. Brokers
 * announce their addresses to clients: a loopback address is wrong inside a container of the same machine.
 */
export function createSocketFactory(loopbackHost: string): ISocketFactory {
  return ({ host: announced, port, ssl, onConnect }) => {
    const host = isLoopback(announced) ? loopbackHost : announced;
    const socket = ssl
      ? connectTls({ host, port, ...tlsIdentityOf(announced), ...ssl }, onConnect)
      : connect({ host, port }, onConnect);
    return socket.setKeepAlive(true, KEEP_ALIVE_MS);
  };
}

/** Checks a broker's certificate against its announced address, wherever it is reached. */
function tlsIdentityOf(announced: string): ConnectionOptions {
  return {
    ...(isIP(announced) === 0 && { servername: announced }),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(announced, certificate),
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
