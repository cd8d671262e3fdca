import type { GraphHost } from '@runyard/host-client';

/**
 * Crash attribution of a run: nothing else can have ended its host (`sole`), one of several runs did, or what a server
 * has asked it (`shared`), or the host had not begun it yet (`none`).
 */
export type CrashAttribution = 'sole' | 'shared' | 'none';

/** A run's slot in a host. */
export interface HostSlot {
  host: GraphHost;
  /** Returns the crash attribution once the host has ended. */
  crashAttribution(): CrashAttribution;
  /** Reports that the host ignores an abort and has to be replaced. Works also after `leave`. */
  reportUnresponsive(): void;
  /** Records that the run's code is being executed. */
  markBegun(): void;
  /** Called once when the host becomes unresponsive because of others, before this run had begun. */
  onUnresponsive(listener: () => void): void;
  /** Frees the slot: the run has ended. */
  release(): void;
}

interface OccupiedSlot {
  hasBegun: boolean;
  onUnresponsive: () => void;
}

/** A host with the supervisor's view of it: its runs and its health. */
export class SupervisedHost {
  readonly host: GraphHost;
  /** True when a server asks it, too. */
  readonly isShared: boolean;
  /** Ends it, once it has no runs any more and new ones go elsewhere. */
  closing: NodeJS.Timeout | undefined;
  /** Milliseconds that a ping is unanswered, counted only while this process itself was awake. */
  unansweredMs = 0;
  isPinging = false;
  /** The part of `unansweredMs` in which its process gave no other sign of life. */
  #silentMs = 0;
  #beats: number | undefined;
  /** True when it gets no new runs and is closed once those it has have ended. */
  isRetired = false;
  /** True when code of an ended run runs on in it. */
  hasRunawayCode = false;
  readonly #slots = new Set<OccupiedSlot>();
  /** The runs that may have ended it, once it has ended. */
  #crashCandidates: Set<OccupiedSlot> = new Set();

  constructor(host: GraphHost, isShared: boolean) {
    this.host = host;
    this.isShared = isShared;
  }

  get silentMs(): number {
    return this.#silentMs;
  }

  recordAnswer(): void {
    this.isPinging = false;
    this.unansweredMs = 0;
    this.#silentMs = 0;
  }

  /** Is called every `forMs` while a ping is unanswered. */
  recordMissedPing(forMs: number): void {
    const beats = this.host.beats();
    const isSilent = beats === undefined || beats === this.#beats;
    this.#beats = beats;
    this.unansweredMs += forMs;
    this.#silentMs = isSilent ? this.#silentMs + forMs : 0;
  }

  get runs(): number {
    return this.#slots.size;
  }

  takeSlot(on: { unresponsive(): void; released(): void }): HostSlot {
    const slot: OccupiedSlot = { hasBegun: false, onUnresponsive: () => undefined };
    this.#slots.add(slot);
    return {
      host: this.host,
      crashAttribution: () => this.#attributionOf(slot),
      reportUnresponsive: on.unresponsive,
      markBegun: () => {
        slot.hasBegun = true;
      },
      onUnresponsive: (listener) => {
        slot.onUnresponsive = listener;
      },
      release: () => {
        this.#slots.delete(slot);
        on.released();
      },
    };
  }

  /**
   * Notifies runs that it has not begun: they need not wait for the one that blocks it. If it has begun none, they may
   * block it themselves.
   */
  notifyUnresponsive(): void {
    const slots = [...this.#slots];
    if (!slots.some(({ hasBegun }) => hasBegun)) return;
    for (const slot of slots) if (!slot.hasBegun) slot.onUnresponsive();
  }

  /** Called when its process has ended. */
  recordExit(): void {
    const begun = [...this.#slots].filter(({ hasBegun }) => hasBegun);
    // When it had begun no run, one that it was about to begin may have ended it.
    this.#crashCandidates = new Set(begun.length > 0 || this.hasRunawayCode ? begun : this.#slots);
  }

  #attributionOf(slot: OccupiedSlot): CrashAttribution {
    if (!this.#crashCandidates.has(slot)) return 'none';
    const isShared = this.isShared || this.#crashCandidates.size > 1 || this.hasRunawayCode;
    return isShared ? 'shared' : 'sole';
  }
}
