/**
 * One run as its parent sees it. Events wait here for the checkpoints that were sent before them. They are delivered
 * one batch at a time, and only then does the child get new credit.
 */
import { type BackendError, mayOverloadDatabase, missingKeyOf } from '@runyard/checkpointer';
import type { HostConnection, ToParent } from '@runyard/host-protocol';
import type { ExecutionOutcome, RunEvent, RunHandlers } from './types.ts';

interface Batch {
  events: RunEvent[];
  bytes: number;
  /** The last put that was sent before these events. */
  afterPut: number;
}

export interface ParentRunOptions {
  connection: HostConnection;
  use: number;
  /** Bytes of events that the child may send before it is granted more. */
  creditBytes: number;
  handlers: RunHandlers;
}

export class ParentRun {
  readonly settled: Promise<ExecutionOutcome>;
  readonly stopped: Promise<void>;
  readonly #connection: HostConnection;
  readonly #use: number;
  readonly #handlers: RunHandlers;
  /** Bytes of events that the child may still send. It may send one more event, of any size, while there are any. */
  #credit: number;
  #resolve!: (outcome: ExecutionOutcome) => void;
  #resolveStopped!: () => void;
  #isSettled = false;
  readonly #batches: Batch[] = [];
  #isDelivering = false;
  #lastPut = 0;
  /** Puts that are not committed yet, in the order they were sent. */
  readonly #pendingPuts = new Set<number>();
  /** The child's outcome, kept until everything before it has been delivered. */
  #outcome: ExecutionOutcome | undefined;

  constructor({ connection, use, creditBytes, handlers }: ParentRunOptions) {
    this.#connection = connection;
    this.#use = use;
    this.#credit = creditBytes;
    this.#handlers = handlers;
    this.settled = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
  }

  abort(reason: string): void {
    if (!this.#isSettled) this.#connection.send(this.#use, { t: 'run.abort', use: this.#use, reason });
  }

  drain(): void {
    if (!this.#isSettled) this.#connection.send(this.#use, { t: 'run.drain', use: this.#use });
  }

  /** Holds events that arrive from now on until `committed` has ended. */
  trackPut(committed: Promise<unknown>): void {
    const put = ++this.#lastPut;
    this.#pendingPuts.add(put);
    const release = () => {
      this.#pendingPuts.delete(put);
      void this.#deliver();
    };
    committed.then(release, release);
  }

  receiveBegun(): void {
    if (!this.#isSettled) this.#handlers.onBegun?.();
  }

  /** Ends the host when it does not wait for credit: what it sends would fill the memory of its parent. */
  receiveEvents({ events }: ToParent['run.events'], raw: Buffer): void {
    if (!this.#takeCredit(events)) {
      this.#connection.closeOnFault('sent events of a run for which it had no credit');
      return;
    }
    let position = 0;
    const decoded = events.map(([mode, event, length]) => {
      const data = raw.toString('utf8', position, position + length);
      position += length;
      return { mode, event, data };
    });
    this.#batches.push({ events: decoded, bytes: position, afterPut: this.#lastPut });
    if (this.#isSettled) this.#dropBatches();
    else void this.#deliver();
  }

  receiveSpans({ spans }: ToParent['run.spans']): void {
    if (!this.#isSettled) this.#handlers.onSpans?.(spans);
  }

  receiveUsage({ usage }: ToParent['run.usage']): void {
    if (!this.#isSettled) this.#handlers.onUsage?.(usage);
  }

  receiveSettled(header: ToParent['run.settled'], raw: Buffer): void {
    this.#outcome = readOutcome(header, raw);
    if (header.isStillWorking !== true) this.#resolveStopped();
    void this.#deliver();
  }

  receiveStopped(): void {
    this.#resolveStopped();
  }

  /**
   * Ends this attempt when another attempt owns the thread, or when storage or the project's encryption is unavailable.
   * The graph is not to blame for that.
   */
  receiveStorageError(error: BackendError): void {
    const outcome = outcomeOf(error);
    if (outcome === undefined) return;
    this.abort(error.message);
    this.cutShort(outcome);
  }

  /** Ends the run after the child has exited. */
  loseChild(outcome: ExecutionOutcome): void {
    this.cutShort(outcome);
    this.#resolveStopped();
  }

  /** Ends the run at once with an outcome that the child does not know. Waiting events are not delivered. */
  cutShort(outcome: ExecutionOutcome): void {
    this.#dropBatches();
    this.#settle(outcome);
  }

  /**
   * Drops the waiting events. The child still gets its credit: without it, it would wait for ever to say that it has
   * stopped.
   */
  #dropBatches(): void {
    for (const { bytes } of this.#batches.splice(0)) this.#grant(bytes);
  }

  /** Returns false when there was no credit left for one of these events. */
  #takeCredit(events: ToParent['run.events']['events']): boolean {
    return events.every(([, , bytes]) => {
      const hasCredit = this.#credit > 0;
      this.#credit -= bytes;
      return hasCredit;
    });
  }

  #grant(bytes: number): void {
    this.#credit += bytes;
    this.#connection.send(this.#use, { t: 'run.credit', use: this.#use, bytes });
  }

  async #deliver(): Promise<void> {
    if (this.#isDelivering || this.#isSettled) return;
    this.#isDelivering = true;
    try {
      while (this.#isDeliverable()) {
        const batch = this.#takeDeliverable();
        const delivered = this.#handlers.onEvents(batch.events);
        if (delivered) await delivered;
        this.#grant(batch.bytes);
      }
    } catch (error) {
      this.abort('events could not be delivered');
      const reason = `events could not be delivered: ${(error as Error).message}`;
      this.cutShort({ kind: 'lost', cause: 'undeliverable', reason });
    } finally {
      this.#isDelivering = false;
    }
    if (this.#outcome && this.#batches.length === 0 && this.#pendingPuts.size === 0) this.#settle(this.#outcome);
  }

  #isDeliverable(): boolean {
    const next = this.#batches[0];
    if (next === undefined || this.#isSettled) return false;
    const [oldestPending] = this.#pendingPuts;
    return oldestPending === undefined || oldestPending > next.afterPut;
  }

  /** Takes all batches that may be delivered now, as one. */
  #takeDeliverable(): Batch {
    const first = this.#batches.shift() as Batch;
    while (this.#isDeliverable()) {
      const next = this.#batches.shift() as Batch;
      for (const event of next.events) first.events.push(event);
      first.bytes += next.bytes;
    }
    return first;
  }

  #settle(outcome: ExecutionOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#resolve(outcome);
  }
}

function readOutcome(header: ToParent['run.settled'], raw: Buffer): ExecutionOutcome {
  const { kind, valuesBytes, interruptsBytes, next = [], error } = header;
  const values = valuesBytes === null ? null : raw.subarray(0, valuesBytes);
  const interrupts = interruptsBytes === null ? null : raw.subarray(raw.byteLength - interruptsBytes);
  const checkpointId = header.checkpointId ?? null;
  switch (kind) {
    case 'done':
      return { kind, values: values ?? Buffer.from('{}'), next, interrupts, checkpointId };
    case 'aborted':
      return { kind, values, interrupts, checkpointId };
    case 'drained':
      return { kind };
    default: {
      const { error: name, message } = error ?? { error: 'Error', message: 'the run ended without saying why' };
      return { kind: 'failed', error: { error: name, message }, values, interrupts, checkpointId };
    }
  }
}

/** Returns how the error of a backend ends an attempt; undefined for one that the graph may handle itself. */
function outcomeOf(error: BackendError): ExecutionOutcome | undefined {
  if (error.reason === 'fenced') return { kind: 'fenced' };
  if (error.reason === 'encryption_failed') return { kind: 'lost', cause: 'encryption', reason: error.message };
  const missingKey = missingKeyOf(error);
  if (missingKey !== undefined) {
    return { kind: 'lost', cause: 'missingKey', reason: `${error.message} Key ${missingKey}.` };
  }
  if (error.reason !== 'unavailable') return undefined;
  const cause = mayOverloadDatabase(error) ? 'slowStorage' : 'storage';
  return { kind: 'lost', cause, reason: `storage is unavailable: ${error.message}` };
}
