import type { GraphHost } from '@runyard/host-client';
import { type Logger, PeriodicTask } from '@runyard/service-kit';
import { IsolatedHostLimit } from './isolated-host-limit.ts';
import { type HostSlot, SupervisedHost } from './supervised-host.ts';

export interface HostSupervisorOptions {
  /** Starts a host; `onExit` is called when it ends without having been closed. */
  start(onExit: (reason: string) => void): Promise<GraphHost>;
  /** Called when a host, or room for an isolated one, is ready for runs. */
  onReady(): void;
  /** Called when a host ended by itself or had to be killed. */
  onLost(): void;
  /** True when a server asks the host for new runs, too. Default: false. */
  isShared?: boolean;
  logger: Logger;
  pingEveryMs?: number;
  /** Milliseconds without an answer after which a host gets no new runs and another one is started beside it. */
  unresponsiveMs?: number;
  /** Milliseconds without an answer after which a host is killed; its runs are retried. */
  deadMs?: number;
  /**
   * The same without any sign of life, where a host gives some while code blocks its event loop; and with some, where
   * that may be code of a run that has ended.
   */
  silentMs?: number;
  restartDelayMs?: { first: number; max: number };
}

const KILL = 0;
/** Milliseconds for which a host without runs that is no longer the current one may end what a server has asked it. */
const ASKED_MS = 60_000;

/** Unresponsive hosts that may still get another one beside them: each of them may keep a core busy. */
const UNRESPONSIVE_MAX = 3;

/**
 * Keeps one healthy graph host: starts it, pings it, replaces it when it ends, hangs or ignores an abort. A quarantined
 * run gets an isolated host. The runs of a host that ends are settled by the host's own parent side (`lost`), never
 * here.
 */
export class HostSupervisor {
  readonly #options: Required<HostSupervisorOptions>;
  readonly #hosts = new Set<SupervisedHost>();
  readonly #isolatedHosts: IsolatedHostLimit;
  #current: SupervisedHost | undefined;
  #starting: Promise<void> | undefined;
  #failedStarts = 0;
  #restartTimer: NodeJS.Timeout | undefined;
  readonly #pings: PeriodicTask;
  #isClosed = false;

  constructor(options: HostSupervisorOptions) {
    this.#options = {
      pingEveryMs: 500,
      unresponsiveMs: 2_500,
      deadMs: 60_000,
      silentMs: 60_000,
      restartDelayMs: { first: 100, max: 10_000 },
      isShared: false,
      ...options,
    };
    this.#isolatedHosts = new IsolatedHostLimit(() => this.#options.onReady());
    const { pingEveryMs: everyMs, logger } = this.#options;
    this.#pings = new PeriodicTask({ name: 'pings of graph hosts', everyMs, run: () => this.#pingAll(), logger });
  }

  /** Starts the first host. Throws when the project does not load: no run could ever be executed. */
  async start(): Promise<void> {
    await this.#open();
    this.#pings.start();
  }

  /** The host that takes new runs; undefined while there is none. */
  get current(): GraphHost | undefined {
    return this.#current && !this.#isUnresponsive(this.#current) ? this.#current.host : undefined;
  }

  /** The number of quarantined runs that would get an isolated host at once. */
  get freeIsolatedHosts(): number {
    return this.#isolatedHosts.free;
  }

  /** Takes a slot in the host that takes new runs. Throws when there is none. */
  takeSlot(): HostSlot {
    if (!this.current || !this.#current) throw new Error('no graph host is ready');
    return this.#takeSlotIn(this.#current);
  }

  /** Takes a slot in a new isolated host, as soon as few enough quarantined runs have one. */
  async takeIsolatedSlot(): Promise<HostSlot> {
    const giveBack = await this.#isolatedHosts.take();
    try {
      const supervised = await this.#startHost(false);
      supervised.isRetired = true;
      const slot = this.#takeSlotIn(supervised);
      return {
        ...slot,
        release: () => {
          slot.release();
          giveBack();
        },
      };
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  #takeSlotIn(supervised: SupervisedHost): HostSlot {
    return supervised.takeSlot({
      unresponsive: () => this.#replaceUnresponsive(supervised),
      released: () => this.#closeIfUnused(supervised),
    });
  }

  #replaceUnresponsive(supervised: SupervisedHost): void {
    if (supervised.hasRunawayCode || !this.#hosts.has(supervised)) return;
    supervised.hasRunawayCode = true;
    this.#options.logger.warn('graph host ignores an abort, will be replaced');
    this.#retire(supervised);
  }

  #retire(supervised: SupervisedHost): void {
    supervised.isRetired = true;
    if (this.#current === supervised) this.#current = undefined;
    this.#closeIfUnused(supervised);
    this.#restart();
  }

  #closeIfUnused(supervised: SupervisedHost): void {
    if (!supervised.isRetired || supervised.runs > 0) return;
    if (supervised.isShared) supervised.closing ??= setTimeout(() => this.#close(supervised, KILL), ASKED_MS).unref();
    else void this.#close(supervised, KILL);
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.#current = undefined;
    clearTimeout(this.#restartTimer);
    await this.#pings.stop();
    await this.#starting?.catch(() => undefined);
    await Promise.all([...this.#hosts].map((supervised) => this.#close(supervised, graceMs)));
  }

  async #open(): Promise<void> {
    const opened = await this.#startHost(this.#options.isShared);
    this.#failedStarts = 0;
    // The unresponsive host has recovered: one is enough.
    if (this.current) this.#retire(opened);
    else this.#current = opened;
    if (!this.#isClosed) this.#options.onReady();
  }

  async #startHost(isShared: boolean): Promise<SupervisedHost> {
    let exitReason: string | undefined;
    let supervised: SupervisedHost | undefined;
    const host = await this.#options.start((reason) => {
      exitReason = reason;
      if (supervised) this.#onExit(supervised, reason);
    });
    if (exitReason !== undefined) throw new Error(`the graph host ${exitReason}`);
    supervised = new SupervisedHost(host, isShared);
    this.#hosts.add(supervised);
    if (this.#isClosed) await this.#close(supervised, KILL);
    return supervised;
  }

  #onExit(supervised: SupervisedHost, reason: string): void {
    supervised.recordExit();
    this.#hosts.delete(supervised);
    if (this.#current === supervised) this.#current = undefined;
    if (this.#isClosed) return;
    this.#options.logger.error('graph host exited', { reason, runs: supervised.runs });
    this.#options.onLost();
    this.#restart();
  }

  #restart(): void {
    if (this.#isClosed || this.#starting || this.#current) return;
    const { first, max } = this.#options.restartDelayMs;
    // A host that ended is replaced at once; only failing starts back off.
    const delay = this.#failedStarts === 0 ? 0 : Math.min(first * 2 ** this.#failedStarts, max);
    clearTimeout(this.#restartTimer);
    this.#restartTimer = setTimeout(() => {
      this.#starting = this.#open()
        .catch((error) => {
          this.#failedStarts += 1;
          this.#options.logger.error('graph host start failed, will retry', {
            error,
            failedStarts: this.#failedStarts,
          });
        })
        .finally(() => {
          this.#starting = undefined;
          this.#restart();
        });
    }, delay);
  }

  #isUnresponsive({ unansweredMs }: SupervisedHost): boolean {
    return unansweredMs >= this.#options.unresponsiveMs;
  }

  #isDead({ unansweredMs, silentMs, hasRunawayCode, runs }: SupervisedHost): boolean {
    const { deadMs, silentMs: silentMsMax } = this.#options;
    // Code of a run that has ended, or of no run, may block it: others need not wait for that as long as for a run's.
    const isOfRun = runs > 0 && !hasRunawayCode;
    return silentMs >= silentMsMax || unansweredMs >= (isOfRun ? deadMs : Math.min(deadMs, silentMsMax));
  }

  #pingAll(): void {
    for (const supervised of this.#hosts) {
      // Missed pings are counted, not time by the clock: a pause of this process says nothing about the host.
      if (supervised.isPinging) this.#countMissedPing(supervised);
      else this.#ping(supervised);
      if (this.#isDead(supervised)) this.#kill(supervised);
    }
    const current = this.#current;
    if (current && this.#isUnresponsive(current) && this.#countUnresponsive() <= UNRESPONSIVE_MAX)
      this.#startAnother(current);
  }

  #countMissedPing(supervised: SupervisedHost): void {
    const wasUnresponsive = this.#isUnresponsive(supervised);
    supervised.recordMissedPing(this.#options.pingEveryMs);
    if (!wasUnresponsive && this.#isUnresponsive(supervised)) supervised.notifyUnresponsive();
  }

  #countUnresponsive(): number {
    return [...this.#hosts].filter((supervised) => this.#isUnresponsive(supervised)).length;
  }

  /** Starts another host, so that pending runs need not wait for the run that blocks this one. */
  #startAnother(unresponsive: SupervisedHost): void {
    if (this.#isClosed || this.#starting) return;
    this.#options.logger.warn('graph host unresponsive, starting another', {
      runs: unresponsive.runs,
    });
    this.#current = undefined;
    this.#restart();
  }

  #kill(supervised: SupervisedHost): void {
    this.#hosts.delete(supervised);
    void supervised.host.kill();
    this.#onExit(supervised, 'did not answer and was killed');
  }

  #ping(supervised: SupervisedHost): void {
    supervised.isPinging = true;
    supervised.host.ping().then(
      () => {
        const wasUnresponsive = this.#isUnresponsive(supervised);
        supervised.recordAnswer();
        if (wasUnresponsive) this.#recover(supervised);
      },
      () => {
        supervised.isPinging = false;
      },
    );
  }

  #recover(supervised: SupervisedHost): void {
    if (supervised.isRetired || !this.#hosts.has(supervised)) return;
    if (this.#current && this.#current !== supervised) this.#retire(supervised);
    else {
      this.#current = supervised;
      this.#options.onReady();
    }
  }

  async #close(supervised: SupervisedHost, graceMs: number): Promise<void> {
    clearTimeout(supervised.closing);
    this.#hosts.delete(supervised);
    await supervised.host.close(graceMs);
  }
}
