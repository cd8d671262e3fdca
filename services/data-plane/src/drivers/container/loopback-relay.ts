import { BlockList, connect, createServer, type Server, type Socket } from 'node:net';
import { conforms } from '@runyard/contracts';
import { RevisionStartError } from '@runyard/deployments';
import type { Logger } from '@runyard/service-kit';
import Type from 'typebox';
import { QUICK_MS, runEngine } from './engine-command.ts';
import type { Endpoint } from './machine-addresses.ts';

/** Older engines omit a gateway that has the default address. */
const Subnets = Type.Array(Type.Object({ Subnet: Type.String(), Gateway: Type.Optional(Type.String()) }));

/** The engine's network of the containers, and the address of the engine's machine in it. */
interface Bridge {
  address: string;
  containers: BlockList;
}

const KEEP_ALIVE_MS = 15_000;
/**
 * Milliseconds between attempts to listen while another process of this machine relays the same port. This one takes
 * over when that process ends.
 */
const RETRY_MS = 2_000;

/**
 * Lets containers reach servers that listen only on this machine's loopback interface: it listens on the machine's
 * address in the engine's network, accepts connections from that network only, and forwards them. Where the network is
 * in a virtual machine, as with Docker Desktop, the engine itself forwards to the loopback interface.
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

  /**
   * Resolves when containers reach the endpoints. Returns the address that the machine's name must have in containers.
   */
  async open(endpoints: Endpoint[]): Promise<string> {
    const bridge = endpoints.length > 0 ? await this.#findBridge() : null;
    if (!bridge) return 'host-gateway';
    const isOurs = await Promise.all(endpoints.map((endpoint) => this.#relay(bridge, endpoint)));
    return isOurs.every(Boolean) ? bridge.address : 'host-gateway';
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
    const found = conforms(Subnets, subnets) ? subnets.find(({ Subnet }) => !Subnet.includes(':')) : undefined;
    if (!found) return null;
    const [network = '', prefix] = found.Subnet.split('/');
    const containers = new BlockList();
    containers.addSubnet(network, Number(prefix));
    // The interface's own address is not read: systems do not list the interface while no container runs.
    return { address: found.Gateway ?? network.replace(/(?<!\d)\d+$/, (last) => String(Number(last) + 1)), containers };
  }

  /** Resolves with false when the address does not belong to this machine. */
  #relay({ address, containers }: Bridge, endpoint: Endpoint): Promise<boolean> {
    const place = `${address}:${endpoint.port}`;
    if (this.#servers.has(place)) return Promise.resolve(true);
    const server = createServer((inner) => {
      if (containers.check(inner.remoteAddress ?? '')) this.#forward(inner, endpoint);
      else inner.destroy();
    });
    this.#servers.set(place, server);
    return new Promise((resolve, reject) => {
      const listen = () => void (this.#isClosed || server.listen(endpoint.port, address));
      server.on('listening', () => resolve(true));
      server.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') {
          setTimeout(listen, RETRY_MS).unref();
          resolve(true);
          return;
        }
        this.#servers.delete(place);
        if (error.code === 'EADDRNOTAVAIL') resolve(false);
        else
          reject(new RevisionStartError(`port ${endpoint.port} of this machine cannot be relayed: ${error.message}`));
      });
      listen();
    });
  }

  /** Connects both sockets; the end of one, in whatever way, ends the other. */
  #forward(inner: Socket, endpoint: Endpoint): void {
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
