import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut and mended: what a client sees when the server goes away and comes back. */
export class SeverableLink {
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(url: string) {
    this.#target = new URL(url);
  }

  /** The same address, by way of the link. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  async mend(): Promise<void> {
    this.#server = createServer((near) => {
      const far = connect(Number(this.#target.port), this.#target.hostname);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket
          .on('error', () => undefined)
          .on('close', () => {
            this.#sockets.delete(socket);
            other.destroy();
          });
        socket.pipe(other);
      }
    });
    await new Promise<void>((resolve) => this.#server!.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
