import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server for a test, on a port of this machine. */
export abstract class LocalServer {
  readonly #server = createServer((req, res) => this.answer(req, res));

  protected abstract answer(req: IncomingMessage, res: ServerResponse): void;

  /** Resolves with this server once it listens. */
  protected async listening(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
