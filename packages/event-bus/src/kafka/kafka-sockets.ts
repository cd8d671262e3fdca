import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

const KEEP_ALIVE_MS = 60_000;

/**
 * Makes connections as kafkajs does, but to `loopbackHost` where a broker's address is one of the loopback interface. Brokers
 * tell their clients where they are: what they say of a machine is wrong inside a container on it.
 */
export function socketsThrough(loopbackHost: string): ISocketFactory {
  return ({ host: told, port, ssl, onConnect }) => {
    const host = isLoopback(told) ? loopbackHost : told;
    const options = { host, port, ...(isIP(host) === 0 && { servername: host }), ...ssl };
    const socket = ssl ? connectTls(options, onConnect) : connect({ host, port }, onConnect);
    return socket.setKeepAlive(true, KEEP_ALIVE_MS);
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
