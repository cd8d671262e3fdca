import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** Milliseconds between two probes while requests come. */
const PROBE_EVERY_MS = 100;
const TICK_MS = 25;
/**
 * The most milliseconds that one turn of the event loop counts: a process that stood still and continues is not one
 * that cannot keep up.
 */
const TURN_MAX_MS = 100;

interface Probe {
  socket: Socket;
  waitedMs: number;
}

/**
 * Measures how long the requests that are read now have waited. An event loop that cannot keep up takes connections
 * late: they wait in the system's queue, where nobody sees them, while its timers are on time. So the gateway stands in
 * that queue itself: while requests come it sends itself one, ten times a second, and the age of the oldest that has
 * not arrived is the wait of those beside it.
 */
export class ArrivalDelay {
  readonly #maxMs: number;
  /** A path that nobody else knows. */
  readonly #path = `/${randomUUID()}`;
  /** Probes in the order in which they were sent. */
  readonly #probes = new Set<Probe>();
  #server: Server | undefined;
  #timer: NodeJS.Timeout | undefined;
  #tickedAt = 0;
  #sinceProbeMs = PROBE_EVERY_MS;
  #isBusy = false;

  /** @param options.maxMs the longest wait in milliseconds; 0 for no limit */
  constructor({ maxMs }: { maxMs: number }) {
    this.#maxMs = maxMs;
  }

  /** Starts measuring; the server has to pass its requests to `take`. */
  observe(server: Server): void {
    if (this.#maxMs > 0) this.#server = server;
  }

  /** The least milliseconds that requests which are read now have waited. */
  get ms(): number {
    for (const { waitedMs } of this.#probes) return waitedMs;
    return 0;
  }

  get isTooLong(): boolean {
    return this.#maxMs > 0 && this.ms > this.#maxMs;
  }

  /** Must be called with each request. Returns whether it was a probe, which wants no answer. */
  takeProbe(req: IncomingMessage): boolean {
    if (req.url === this.#path) {
      req.socket.destroy();
      return true;
    }
    this.#isBusy = true;
    if (this.#server && !this.#timer) this.#start();
    return false;
  }

  stop(): void {
    this.#server = undefined;
    this.#pause();
    for (const { socket } of this.#probes) socket.destroy();
  }

  #start(): void {
    this.#tickedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  #pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const now = performance.now();
    const turnMs = Math.min(now - this.#tickedAt, TURN_MAX_MS);
    this.#tickedAt = now;
    for (const probe of this.#probes) probe.waitedMs += turnMs;
    this.#sinceProbeMs += turnMs;
    if (this.#sinceProbeMs < PROBE_EVERY_MS) return;
    if (this.#isBusy) this.#send();
    else if (this.#probes.size === 0) this.#pause();
  }

  #send(): void {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    if (!address) return;
    this.#isBusy = false;
    this.#sinceProbeMs = 0;
    const socket = connect({ port: address.port, host: loopbackOf(address) });
    const probe = { socket, waitedMs: 0 };
    this.#probes.add(probe);
    // A probe that could not connect has not waited; the server closes one that has arrived.
    socket.on('error', () => undefined).on('close', () => this.#probes.delete(probe));
    socket.end(`GET ${this.#path} HTTP/1.1\r\nhost: gateway\r\n\r\n`);
    socket.resume();
  }
}

/** Returns where a server that listens on all addresses is reached from inside. */
function loopbackOf({ address }: AddressInfo): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}
