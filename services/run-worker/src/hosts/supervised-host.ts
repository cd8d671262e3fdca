import type { GraphHost } from '@runyard/graph-host';

/**
 * Crash attribution of a run: nothing else can have ended its host (`sole`), one of several runs did (`shared`), or the
 * host had not begun it yet (`none`).
 */
export type Blame = 'sole' | 'shared' | 'none';

/** A run's slot in a host. */
export interface HostSeat {
  host: GraphHost;
  /** Returns the crash attribution once the host has ended. */
  blame(): Blame;
  /** Reports that the host does not obey and has to be replaced. Works also after `leave`. */
  complain(): void;
  /** Records that the run's code is being executed. */
  begun(): void;
  /** Called once when the host becomes unresponsive because of others, before this run had begun. */
  onStalled(listener: () => void): void;
  /** Frees the slot: the run has ended. */
  leave(): void;
}

interface Seated {
  hasBegun: boolean;
  onStalled: () => void;
}

/** A host with the supervisor's view of it: its runs and its health. */
export class SupervisedHost {
  readonly host: GraphHost;
  /** Milliseconds that a ping is unanswered, counted only while this process itself was awake. */
  silentMs = 0;
  isPinging = false;
  /** True when it gets no new runs and is closed once those it has have ended. */
  isRetired = false;
  /** True when code of an ended run runs on in it. */
  isDistrusted = false;
  readonly #seats = new Set<Seated>();
  /** The runs that may have ended it, once it has ended. */
  #suspects: Set<Seated> = new Set();

  constructor(host: GraphHost) {
    this.host = host;
  }

  get runs(): number {
    return this.#seats.size;
  }

  takeSeat(on: { complaint(): void; left(): void }): HostSeat {
    const seated: Seated = { hasBegun: false, onStalled: () => undefined };
    this.#seats.add(seated);
    return {
      host: this.host,
      blame: () => this.#blameFor(seated),
      complain: on.complaint,
      begun: () => {
        seated.hasBegun = true;
      },
      onStalled: (listener) => {
        seated.onStalled = listener;
      },
      leave: () => {
        this.#seats.delete(seated);
        on.left();
      },
    };
  }

  /**
   * Notifies runs that it has not begun: they need not wait for the one that blocks it. If it has begun none, they may
   * block it themselves.
   */
  tellStalled(): void {
    const seats = [...this.#seats];
    if (!seats.some(({ hasBegun }) => hasBegun)) return;
    for (const seated of seats) if (!seated.hasBegun) seated.onStalled();
  }

  /** Called when its process has ended. */
  lost(): void {
    const begun = [...this.#seats].filter(({ hasBegun }) => hasBegun);
    // When it had begun no run, one that it was about to begin may have ended it.
    this.#suspects = new Set(begun.length > 0 || this.isDistrusted ? begun : this.#seats);
  }

  #blameFor(seated: Seated): Blame {
    if (!this.#suspects.has(seated)) return 'none';
    return this.#suspects.size > 1 || this.isDistrusted ? 'shared' : 'sole';
  }
}
