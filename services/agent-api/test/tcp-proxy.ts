import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A line to a server that can be cut and mended. */
export class TcpProxy {
  readonly #target: URL;
  readonly #open = new Set<Socket>();
  #server: Server;
  #port = 0;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = this.#createServer();
  }

  static async to(url: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(url));
    await proxy.mend();
    return proxy;
  }

  /** The target's URL by way of this line. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** Ends all connections and refuses new ones. */
  async cut(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  async mend(): Promise<void> {
    this.#server = this.#createServer();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.cut();
  }

  #createServer(): Server {
    return createServer((socket) => {
      const onward = connect(Number(this.#target.port), this.#target.hostname);
      for (const each of [socket, onward]) {
        this.#open.add(each);
        each.on('error', () => undefined);
        each.on('close', () => {
          this.#open.delete(each);
          socket.destroy();
          onward.destroy();
        });
      }
      socket.pipe(onward).pipe(socket);
    });
  }
}
