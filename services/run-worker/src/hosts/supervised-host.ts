import type { GraphHost } from '@runyard/graph-host';

/**
 * Whether a run took down the host it was in: nothing else can have, one of several did, or the host had not got to it yet.
 */
export type Blame = 'sole' | 'shared' | 'none';

/** A run's place in a host. */
export interface HostSeat {
  host: GraphHost;
  /** Once the host is gone. */
  blame(): Blame;
  /** The host does not obey: it is to be replaced. Also after `leave`. */
  complain(): void;
  /** The run's code is being executed. */
  begun(): void;
  /** Called once when the host stops answering because of others, before this run had begun. */
  onStalled(listener: () => void): void;
  /** The run is over. */
  leave(): void;
}

interface Seated {
  hasBegun: boolean;
  onStalled: () => void;
}

/** A host as its supervisor sees it: who is in it, and how it does. */
export class SupervisedHost {
  readonly host: GraphHost;
  /** For how long a ping is unanswered, as far as this process itself was awake. */
  silentMs = 0;
  isPinging = false;
  /** Gets no new runs and is closed once those it has are over. */
  isRetired = false;
  /** Code of a run that is over goes on in it. */
  isDistrusted = false;
  readonly #seats = new Set<Seated>();
  /** Those that may have taken it down, once it is gone. */
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

  /** Those it did not get to need not wait for the one that blocks it. Without another it may be their own doing. */
  tellStalled(): void {
    const seats = [...this.#seats];
    if (!seats.some(({ hasBegun }) => hasBegun)) return;
    for (const seated of seats) if (!seated.hasBegun) seated.onStalled();
  }

  /** Its process is gone. */
  lost(): void {
    const begun = [...this.#seats].filter(({ hasBegun }) => hasBegun);
    // When it had begun none, one it was about to begin may be to blame.
    this.#suspects = new Set(begun.length > 0 || this.isDistrusted ? begun : this.#seats);
  }

  #blameFor(seated: Seated): Blame {
    if (!this.#suspects.has(seated)) return 'none';
    return this.#suspects.size > 1 || this.isDistrusted ? 'shared' : 'sole';
  }
}
