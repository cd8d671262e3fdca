import { BlockList, connect, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { conforms } from '@runyard/contracts';
import type { Logger } from '@runyard/service-kit';
import Type from 'typebox';
import { StartFailure } from '../driver.ts';
import { QUICK_MS, runEngine } from './engine-command.ts';
import type { Endpoint } from './machine-addresses.ts';

const Subnets = Type.Array(Type.Object({ Subnet: Type.String() }));

/** The network of the engine that containers are on, as this machine takes part in it. */
interface Bridge {
  address: string;
  containers: BlockList;
}

const KEEP_ALIVE_MS = 15_000;
/** Another process of this machine may relay the same port: its place is taken when it ends. */
const RETRY_MS = 2_000;

/**
 * Lets containers reach servers that listen on the loopback interface of this machine alone: it listens for them on the
 * machine's address in the engine's network, takes connections from that network only, and passes them on. Where the engine
 * has its network elsewhere, in the virtual machine of Docker Desktop, that does the same by itself.
 */
export class LoopbackRelay {
  readonly #command: string;
  readonly #logger: Logger;
  readonly #servers = new Map<string, Server>();
  readonly #connections = new Set<Socket>();
  #isClosed = false;

  constructor(options: { command: string; logger: Logger }) {
    this.#command = options.command;
    this.#logger = options.logger;
  }

  /** Resolves when containers reach the endpoints, with what their name of this machine has to stand for. */
  async open(endpoints: Endpoint[]): Promise<string> {
    const bridge = endpoints.length > 0 ? await this.#findBridge() : null;
    if (!bridge) return 'host-gateway';
    await Promise.all(endpoints.map((endpoint) => this.#relay(bridge, endpoint)));
    return bridge.address;
  }

  close(): void {
    this.#isClosed = true;
    for (const server of this.#servers.values()) server.close();
    for (const connection of this.#connections) connection.destroy();
  }

  async #findBridge(): Promise<Bridge | null> {
    const args = ['network', 'inspect', 'bridge', '--format', '{{json .IPAM.Config}}'];
    const answer = await runEngine(this.#command, args, { signal: AbortSignal.timeout(QUICK_MS) });
    const subnets: unknown = answer.code === 0 ? JSON.parse(answer.stdout || '[]') : [];
    const containers = new BlockList();
    for (const { Subnet } of conforms(Subnets, subnets) ? subnets : []) {
      const [network = '', prefix] = Subnet.split('/');
      if (!network.includes(':')) containers.addSubnet(network, Number(prefix));
    }
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const found = own.find(({ family, address }) => family === 'IPv4' && containers.check(address));
    return found ? { address: found.address, containers } : null;
  }

  #relay({ address, containers }: Bridge, endpoint: Endpoint): Promise<void> {
    const place = `${address}:${endpoint.port}`;
    if (this.#servers.has(place)) return Promise.resolve();
    const server = createServer((inner) => {
      if (containers.check(inner.remoteAddress ?? '')) this.#passOn(inner, endpoint);
      else inner.destroy();
    });
    this.#servers.set(place, server);
    return new Promise((resolve, reject) => {
      const listen = () => void (this.#isClosed || server.listen(endpoint.port, address));
      server.on('listening', resolve);
      server.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') {
          setTimeout(listen, RETRY_MS).unref();
          resolve();
          return;
        }
        this.#servers.delete(place);
        reject(
          new StartFailure(`containers cannot be let reach port ${endpoint.port} of this machine: ${error.message}`),
        );
      });
      listen();
    });
  }

  /** Each end is ended with the other, however that ends. */
  #passOn(inner: Socket, endpoint: Endpoint): void {
    const outer = connect(endpoint);
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      this.#connections.add(one);
      one.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS).pipe(other);
      one.on('error', (error) => this.#logger.debug('relayed connection broke', { port: endpoint.port, error }));
      one.on('close', () => {
        this.#connections.delete(one);
        other.destroy();
      });
    }
  }
}
