import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  /** The URL of the server, through the proxy. */
  url: string;
  /** Cuts all connections and refuses new ones, as a stopped server does. */
  refuse(): void;
  /** Takes bytes and passes none on, as a network that swallows packets does. */
  swallow(): void;
  /** Works again. What was swallowed arrives late on connections that are still there, as TCP sends it again. */
  heal(): void;
  close(): Promise<void>;
}

/** Stands between a client and the server of a URL, and fails on request. */
export async function tcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  let mode: 'pass' | 'refuse' | 'swallow' = 'pass';
  const sockets = new Set<Socket>();
  let swallowed: (() => void)[] = [];
  const server = createServer((client) => {
    if (mode === 'refuse') return void client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (bytes) => {
        if (mode === 'pass') to.write(bytes);
        else swallowed.push(() => to.writable && to.write(bytes));
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    refuse: () => {
      mode = 'refuse';
      cut();
    },
    swallow: () => {
      mode = 'swallow';
    },
    heal: () => {
      mode = 'pass';
      for (const arrive of swallowed) arrive();
      swallowed = [];
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
