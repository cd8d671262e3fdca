import type { Redis } from 'ioredis';
import type { EntryCodec } from './entry-codec.ts';
import { StaleEpochError, StreamUnavailableError } from './errors.ts';
import { BEFORE_ALL, nextId } from './event-id.ts';
import { runCommand } from './redis-connection.ts';
import type { StreamSettings } from './run-streams-options.ts';
import type { StreamCommands } from './stream-commands.ts';
import { gapAfter } from './stream-gap.ts';
import { threadKeys } from './thread-keys.ts';
import { type AppendEvent, type AppendOptions, CONTROL_KINDS, type StreamFence } from './types.ts';

/** The state of a thread to which this process appends. */
interface ThreadAppends {
  lastId: string;
  /** The run that appends at the moment. */
  runId: string;
  /** Failed appends: the next append marks that events are missing. */
  lost: readonly LostEvents[];
}

/** Marks events of a run that did not reach its stream; at most one per run. */
interface LostEvents {
  runId: string;
  attempt: number;
  /**
   * The first lost event: when exactly that is sent again, nothing is missing. The reference is weak, because a sender
   * that repeats an event holds it.
   */
  first: WeakRef<AppendEvent>;
}

/** Maximum number of remembered threads; a forgotten one only loses the marks above. */
const THREADS_MAX = 20_000;

/**
 * The appends of this process. It remembers the last id and the run of each thread: ids stay above earlier ones even
 * when Redis was emptied, and events that Redis did not accept are marked where they are missing.
 */
export class Appender {
  readonly #redis: Redis & StreamCommands;
  readonly #settings: StreamSettings;
  readonly #codec: EntryCodec;
  readonly #appending = new Map<string, ThreadAppends>();

  constructor(redis: Redis & StreamCommands, settings: StreamSettings, codec: EntryCodec) {
    this.#redis = redis;
    this.#settings = settings;
    this.#codec = codec;
  }

  async append(fence: StreamFence, events: AppendEvent[], options: AppendOptions): Promise<string[]> {
    const first = events[0];
    if (!first) return this.#appendOfRun(fence, '', [], options);
    const runs: AppendEvent[][] = [];
    for (const event of events) {
      if (runs.at(-1)?.[0]?.runId === event.runId) runs.at(-1)!.push(event);
      else runs.push([event]);
    }
    // The commands are sent at once on the same connection, so that they keep their order and need one round trip.
    const ids = await Promise.allSettled(
      runs.map((ofRun, index) => {
        const endsRun = options.endsRun === true && index === runs.length - 1;
        return this.#appendOfRun(fence, ofRun[0]!.runId, ofRun, { ...options, endsRun });
      }),
    );
    return ids.flatMap((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  /** Forgets a run that appends nothing more. */
  forgetRun(threadId: string, runId: string): void {
    if (this.#appending.get(threadId)?.runId === runId) this.forgetThread(threadId);
  }

  forgetThread(threadId: string): void {
    this.#appending.delete(threadId);
  }

  async #appendOfRun(
    fence: StreamFence,
    runId: string,
    events: AppendEvent[],
    options: AppendOptions,
  ): Promise<string[]> {
    const { threadId } = fence;
    const before = this.#appending.get(threadId);
    const continues = before?.runId === runId || (events[0]?.attempt ?? 1) > 1;
    const texts = events.map((event) => this.#codec.encode(event, options.resumable));
    const marked = (events[0] && before?.lost) ?? [];
    for (const lost of marked) {
      if (!showsNoLoss(lost, events[0]!))
        texts.unshift(this.#codec.encode(toGapEvent(lost, before!.lastId), options.resumable));
    }
    const known = before?.lastId ?? BEFORE_ALL;
    try {
      const firstId = await this.#runScript(fence, runId, texts, options, continues, known);
      if (events.length === 0) return [];
      const ids = consecutiveIds(firstId, texts.length).slice(texts.length - events.length);
      const lost = this.#lostOf(threadId).filter((each) => !marked.includes(each));
      // The end of a run may arrive when the next one has begun.
      const owner = options.endsRun && before ? before.runId : runId;
      if (options.endsRun && owner === runId && lost.length === 0) this.#appending.delete(threadId);
      else this.#remember(threadId, { lastId: ids.at(-1)!, runId: owner, lost });
      return ids;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('STALEEPOCH')) {
        throw new StaleEpochError(threadId, fence.epoch);
      }
      if (error instanceof StreamUnavailableError && events[0]) {
        const remembered = this.#lostOf(threadId);
        const others = remembered.filter((each) => each.runId !== runId);
        const first = remembered.find((each) => each.runId === runId)?.first ?? new WeakRef(events[0]);
        this.#remember(threadId, {
          lastId: known,
          runId,
          lost: [...others, { runId, attempt: events[0].attempt, first }],
        });
      }
      throw error;
    }
  }

  async #runScript(
    { threadId, epoch }: StreamFence,
    runId: string,
    texts: string[],
    { resumable, endsRun, position }: AppendOptions,
    continues: boolean,
    knownId: string,
  ): Promise<string> {
    const { keyPrefix, timeoutMs, maxEntriesPerThread, maxBytesPerThread } = this.#settings;
    const { idleTtlMs, fenceTtlMs, resumableTtlMs, graceMs } = this.#settings;
    const { events, head, ends, sizes, publishedEnds, starts, live } = threadKeys(keyPrefix, threadId);
    const [knownMs, knownSeq] = knownId.split('-') as [string, string];
    const append = () =>
      this.#redis.runStreamAppend(
        events,
        head,
        ends,
        sizes,
        publishedEnds,
        starts,
        live,
        `${epoch}`,
        runId,
        resumable ? '1' : '0',
        continues ? '1' : '0',
        knownMs,
        knownSeq,
        `${maxEntriesPerThread}`,
        `${idleTtlMs}`,
        `${fenceTtlMs}`,
        `${resumableTtlMs}`,
        `${graceMs}`,
        endsRun ? '1' : '0',
        `${maxBytesPerThread}`,
        position === undefined ? '' : `${runId} ${position}`,
        ...texts,
      );
    const [firstId, trimmed] = await runCommand(this.#redis, append, timeoutMs);
    if (trimmed > 0) this.#settings.onTrim(trimmed);
    return firstId;
  }

  #lostOf(threadId: string): readonly LostEvents[] {
    return this.#appending.get(threadId)?.lost ?? [];
  }

  #remember(threadId: string, appending: ThreadAppends): void {
    this.#appending.delete(threadId);
    this.#appending.set(threadId, appending);
    if (this.#appending.size > THREADS_MAX) this.#appending.delete(this.#appending.keys().next().value!);
  }
}

function toGapEvent({ runId, attempt }: LostEvents, lastId: string): AppendEvent {
  return { runId, attempt, ...gapAfter(lastId, 'lost') };
}

/**
 * Returns whether the event shows no loss: a gap reports it already, and a sender that begins with the first lost event
 * repeats all.
 */
function showsNoLoss({ runId, first }: LostEvents, event: AppendEvent): boolean {
  return event.runId === runId && (event.kind === CONTROL_KINDS.gap || event === first.deref());
}

function consecutiveIds(firstId: string, count: number): string[] {
  const ids = [firstId];
  while (ids.length < count) ids.push(nextId(ids.at(-1)!));
  return ids;
}
