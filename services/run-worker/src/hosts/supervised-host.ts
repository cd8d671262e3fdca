import type { GraphHost } from '@runyard/graph-host';

/** A run's place in a host. */
export interface HostSeat {
  host: GraphHost;
  /** True when the host is gone and had other code in it besides: which took it down is not known. */
  wasLostWithOthers(): boolean;
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
  /** How many runs it had when it was lost; undefined while it lives. */
  #runsWhenLost: number | undefined;

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
      wasLostWithOthers: () => (this.#runsWhenLost ?? 0) > 1 || this.isDistrusted,
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
    this.#runsWhenLost = this.runs;
  }
}
