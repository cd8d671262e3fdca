import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** Between two probes while requests come. */
const PROBE_EVERY_MS = 100;
const TICK_MS = 25;
/** What one turn of the event loop counts at most: a process that stood still, and goes on, is not one that cannot keep up. */
const TURN_MAX_MS = 100;

interface Probe {
  socket: Socket;
  waitedMs: number;
}

/**
 * Knows how long the requests that are read now have waited to be. An event loop that cannot keep up takes connections late: they
 * wait in the system's queue, where nobody sees them, while its timers are on time. So the gateway stands in that queue itself: while
 * requests come it sends itself one, ten times a second, and the age of the oldest that has not arrived is what those beside it
 * have waited.
 */
export class ArrivalDelay {
  readonly #maxMs: number;
  /** Nobody else knows it. */
  readonly #path = `/${randomUUID()}`;
  /** In the order in which they were sent. */
  readonly #probes = new Set<Probe>();
  #server: Server | undefined;
  #timer: NodeJS.Timeout | undefined;
  #tickedAt = 0;
  #sinceProbeMs = PROBE_EVERY_MS;
  #isBusy = false;

  /** @param options.maxMs 0: nothing is too long */
  constructor({ maxMs }: { maxMs: number }) {
    this.#maxMs = maxMs;
  }

  /** From here on it measures; the server passes its requests to `take`. */
  observe(server: Server): void {
    if (this.#maxMs > 0) this.#server = server;
  }

  /** Milliseconds that requests which are read now have waited at least. */
  get ms(): number {
    for (const { waitedMs } of this.#probes) return waitedMs;
    return 0;
  }

  get isTooLong(): boolean {
    return this.#maxMs > 0 && this.ms > this.#maxMs;
  }

  /** To be called with each request. Returns whether it was a probe, which wants no answer. */
  take(req: IncomingMessage): boolean {
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
    this.#rest();
    for (const { socket } of this.#probes) socket.destroy();
  }

  #start(): void {
    this.#tickedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  #rest(): void {
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
    else if (this.#probes.size === 0) this.#rest();
  }

  #send(): void {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    if (!address) return;
    this.#isBusy = false;
    this.#sinceProbeMs = 0;
    const socket = connect({ port: address.port, host: loopbackOf(address) });
    const probe = { socket, waitedMs: 0 };
    this.#probes.add(probe);
    // One that could not be made has not waited; the server ends one that has arrived.
    socket.on('error', () => undefined).on('close', () => this.#probes.delete(probe));
    socket.end(`GET ${this.#path} HTTP/1.1\r\nhost: gateway\r\n\r\n`);
    socket.resume();
  }
}

/** A server that listens everywhere is reached from inside. */
function loopbackOf({ address }: AddressInfo): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}
