import type { GraphHost } from '@runyard/graph-host';
import type { Logger } from '@runyard/service-kit';

export interface HostSupervisorOptions {
  /** Starts a host; `onExit` is called when it ends without having been closed. */
  start(onExit: (reason: string) => void): Promise<GraphHost>;
  /** A host is ready for runs. */
  onReady(): void;
  /** A host ended by itself or had to be killed. */
  onLost(): void;
  logger: Logger;
  pingEveryMs?: number;
  /** A host that has not answered for this long gets no new runs. */
  unresponsiveMs?: number;
  /** A host that has not answered for this long is killed; its runs start again elsewhere. */
  deadMs?: number;
  restartDelayMs?: { first: number; max: number };
}

const KILL = 0;

/** Hosts for suspects at a time: each is a process with the whole project in it. */
const HOSTS_FOR_SUSPECTS_MAX = 3;

/** A run's place in a host. */
export interface HostSeat {
  host: GraphHost;
  /** True when the host is gone and had other runs besides: which one took it down is not known. */
  wasLostWithOthers(): boolean;
  /** The host does not obey: it is to be replaced. */
  complain(): void;
  /** The run is over. */
  leave(): void;
}

interface Supervised {
  host: GraphHost;
  /** Monotonic time of the last answer to a ping. */
  answeredAt: number;
  isPinging: boolean;
  /** Gets no new runs and is closed once those it has are over. */
  isRetired: boolean;
  runs: number;
  /** How many runs it had when it was lost; undefined while it lives. */
  runsWhenLost: number | undefined;
}

/**
 * Keeps one healthy graph host: starts it, pings it, replaces it when it ends, hangs or does not obey. A suspect run gets a host
 * of its own. The runs of a host that goes away are settled by the host's own parent side (`lost`), never here.
 */
export class HostSupervisor {
  readonly #options: Required<HostSupervisorOptions>;
  readonly #hosts = new Set<Supervised>();
  #current: Supervised | undefined;
  #starting: Promise<void> | undefined;
  #suspects = 0;
  #waitingSuspects: (() => void)[] = [];
  #failedStarts = 0;
  #restartTimer: NodeJS.Timeout | undefined;
  #pingTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: HostSupervisorOptions) {
    this.#options = {
      pingEveryMs: 1_000,
      unresponsiveMs: 3_000,
      deadMs: 60_000,
      restartDelayMs: { first: 100, max: 10_000 },
      ...options,
    };
  }

  /** Starts the first host. Throws when the project does not load: nothing could ever be run. */
  async start(): Promise<void> {
    await this.#open();
    this.#pingTimer = setInterval(() => this.#pingAll(), this.#options.pingEveryMs);
  }

  /** The host that takes new runs; undefined while there is none. */
  get current(): GraphHost | undefined {
    const current = this.#current;
    if (!current || performance.now() - current.answeredAt > this.#options.unresponsiveMs) return undefined;
    return current.host;
  }

  /** A place in the host that takes new runs. Throws when there is none. */
  takeSeat(): HostSeat {
    if (!this.current || !this.#current) throw new Error('no graph host is ready');
    return this.#seatIn(this.#current);
  }

  /** A place in a new host without any other run, as soon as few enough suspects have one. */
  async takeSeatAlone(): Promise<HostSeat> {
    if (this.#suspects < HOSTS_FOR_SUSPECTS_MAX) this.#suspects += 1;
    else await new Promise<void>((resolve) => this.#waitingSuspects.push(resolve));
    try {
      const supervised = await this.#startHost();
      supervised.isRetired = true;
      const seat = this.#seatIn(supervised);
      return {
        ...seat,
        leave: () => {
          seat.leave();
          this.#suspectLeft();
        },
      };
    } catch (error) {
      this.#suspectLeft();
      throw error;
    }
  }

  /** The place passes to the next in line, if there is one. */
  #suspectLeft(): void {
    const next = this.#waitingSuspects.shift();
    if (next) next();
    else this.#suspects -= 1;
  }

  #seatIn(supervised: Supervised): HostSeat {
    supervised.runs += 1;
    return {
      host: supervised.host,
      wasLostWithOthers: () => (supervised.runsWhenLost ?? 0) > 1,
      complain: () => this.#retire(supervised),
      leave: () => {
        supervised.runs -= 1;
        if (supervised.isRetired && supervised.runs === 0) void this.#close(supervised, KILL);
      },
    };
  }

  #retire(supervised: Supervised): void {
    if (supervised.isRetired) return;
    this.#options.logger.warn('a graph host does not obey and is replaced');
    supervised.isRetired = true;
    if (this.#current === supervised) this.#current = undefined;
    this.#restart();
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restartTimer);
    clearInterval(this.#pingTimer);
    await this.#starting?.catch(() => undefined);
    await Promise.all([...this.#hosts].map((supervised) => this.#close(supervised, graceMs)));
  }

  async #open(): Promise<void> {
    this.#current = await this.#startHost();
    this.#failedStarts = 0;
    if (!this.#isClosed) this.#options.onReady();
  }

  async #startHost(): Promise<Supervised> {
    let exitReason: string | undefined;
    let supervised: Supervised | undefined;
    const host = await this.#options.start((reason) => {
      exitReason = reason;
      if (supervised) this.#onExit(supervised, reason);
    });
    if (exitReason !== undefined) throw new Error(`the graph host ${exitReason}`);
    supervised = {
      host,
      answeredAt: performance.now(),
      isPinging: false,
      isRetired: false,
      runs: 0,
      runsWhenLost: undefined,
    };
    this.#hosts.add(supervised);
    if (this.#isClosed) await this.#close(supervised, KILL);
    return supervised;
  }

  #onExit(supervised: Supervised, reason: string): void {
    supervised.runsWhenLost = supervised.runs;
    this.#hosts.delete(supervised);
    if (this.#current === supervised) this.#current = undefined;
    if (this.#isClosed) return;
    this.#options.logger.error('a graph host is gone', { reason, runs: supervised.runs });
    this.#options.onLost();
    this.#restart();
  }

  #restart(): void {
    if (this.#isClosed || this.#starting || this.#current) return;
    const { first, max } = this.#options.restartDelayMs;
    const delay = Math.min(first * 2 ** this.#failedStarts, max);
    clearTimeout(this.#restartTimer);
    this.#restartTimer = setTimeout(() => {
      this.#starting = this.#open()
        .catch((error) => {
          this.#failedStarts += 1;
          this.#options.logger.error('a graph host could not be started', { error, failedStarts: this.#failedStarts });
        })
        .finally(() => {
          this.#starting = undefined;
          this.#restart();
        });
    }, delay);
  }

  #pingAll(): void {
    for (const supervised of this.#hosts) {
      this.#ping(supervised);
      const silentMs = performance.now() - supervised.answeredAt;
      if (silentMs < this.#options.deadMs || !this.#hosts.has(supervised)) continue;
      void this.#close(supervised, KILL);
      this.#onExit(supervised, 'did not answer and was killed');
    }
  }

  #ping(supervised: Supervised): void {
    if (supervised.isPinging) return;
    supervised.isPinging = true;
    const wasSilent = () => performance.now() - supervised.answeredAt > this.#options.unresponsiveMs;
    supervised.host.ping().then(
      () => {
        const hadBeenSilent = wasSilent();
        supervised.isPinging = false;
        supervised.answeredAt = performance.now();
        if (hadBeenSilent && this.#current === supervised) this.#options.onReady();
      },
      () => {
        supervised.isPinging = false;
      },
    );
  }

  async #close(supervised: Supervised, graceMs: number): Promise<void> {
    this.#hosts.delete(supervised);
    await supervised.host.close(graceMs);
  }
}
