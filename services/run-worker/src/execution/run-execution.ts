import type { CheckpointBackend, StoreBackend } from '@runyard/checkpointer';
import type { ExecutionOutcome, GraphHost, RunEvent, RunHandle } from '@runyard/host-client';
import {
  type CancelOrder,
  type ClaimedRun,
  type ExhaustedBudget,
  exhaustedMessage,
  FencedError,
  type RunEngine,
} from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';
import type { Tracing } from '@runyard/tracing';
import type { HostSlot } from '../hosts/supervised-host.ts';
import type { EventPublisher, RunPublisher } from '../streams/event-publisher.ts';
import { countTooLarge, type StreamedAttempt, toAppendEvents, toStreamedAttempt } from '../streams/run-events.ts';
import type { WorkerMetrics } from '../worker-metrics.ts';
import { AttemptTrace } from './attempt-trace.ts';
import { BudgetedCheckpoints } from './budgeted-checkpoints.ts';
import { EndWriter } from './end-writer.ts';
import { decideEnding, type Ending, type StopReason } from './ending.ts';
import { toExecutionRequest } from './execution-request.ts';
import type { EndedRun } from './log-run.ts';
import { UsageWriter } from './usage-writer.ts';

export interface ExecutionDeps {
  engine: Pick<
    RunEngine,
    'finishRun' | 'releaseRun' | 'findRuns' | 'recordUsage' | 'findExhaustedBudget' | 'requestCancel'
  >;
  publisher: EventPublisher;
  /** Takes a host slot, for a quarantined run in an isolated host. */
  takeSlot(run: ClaimedRun): HostSlot | Promise<HostSlot>;
  /** Opens storage under the run's fence. Runs whose thread is not kept have no checkpoints. */
  checkpointsFor(run: ClaimedRun): CheckpointBackend | undefined;
  /** Opens the store; the host computes the project's embeddings. */
  storeFor(run: ClaimedRun, host: GraphHost): StoreBackend;
  metrics: WorkerMetrics;
  tracing: Tracing;
  logger: Logger;
  /** Called after this worker has ended a run. */
  onEnded?(run: EndedRun): void;
  timeoutMs: number;
  /** Milliseconds that a graph may take to obey an abort before its run is ended without it. */
  abortGraceMs: number;
  /** Milliseconds that it may take before its host is replaced. */
  hostGraceMs: number;
}

/** Timers take 31 bits of milliseconds; nobody waits 24 days for an attempt. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * One attempt of one run, from its claim to its end: the host executes it, Postgres gets its end, and its stream the
 * events. `done` resolves when the slot is free, and says whether the thread has a run waiting; it never rejects.
 */
export class RunExecution {
  readonly run: ClaimedRun;
  readonly done: Promise<{ hasNextRun: boolean }>;
  readonly #deps: ExecutionDeps;
  readonly #publisher: RunPublisher;
  readonly #streamed: StreamedAttempt;
  readonly #end: EndWriter;
  readonly #trace: AttemptTrace;
  readonly #usage: UsageWriter;
  readonly #startedAt = performance.now();
  #slot: HostSlot | undefined;
  #handle: RunHandle | undefined;
  /** Why the attempt was stopped from outside; the first reason counts, but a loss beats all. */
  #stop: StopReason | undefined;
  #isEnding = false;
  /** True when the host executes the run's code. */
  #hasBegun = false;
  /** True when the log says that the host imitates the platform. */
  #hasRefusedEvents = false;
  #giveUp!: (outcome: ExecutionOutcome) => void;
  readonly #givenUp = new Promise<ExecutionOutcome>((resolve) => {
    this.#giveUp = resolve;
  });

  constructor(run: ClaimedRun, deps: ExecutionDeps) {
    this.run = run;
    this.#deps = deps;
    this.#streamed = toStreamedAttempt(run);
    this.#publisher = deps.publisher.open(this.#streamed, () => this.lose());
    const { engine, metrics, logger } = deps;
    this.#trace = new AttemptTrace(deps.tracing, run);
    this.#usage = new UsageWriter({ engine, run, onExhausted: (budget) => this.#stopFor(budget), logger });
    const [publisher, streamed, usage] = [this.#publisher, this.#streamed, this.#usage];
    this.#end = new EndWriter({ engine, run, publisher, streamed, usage, metrics, logger });
    this.done = this.#execute();
  }

  /** Obeys a durable cancel order. */
  cancel({ reason }: CancelOrder): void {
    if (this.#stop || this.#isEnding) return;
    this.#abort({ kind: 'cancelled', reason });
  }

  /** Called when the run has another owner, or none: everything stops and nothing more is written. */
  lose(): void {
    if (this.#isEnding) return;
    this.#stop = { kind: 'lost' };
    this.#handle?.abort('the run was taken over');
    this.#reportUnlessStopped();
    this.#giveUp({ kind: 'fenced' });
  }

  /** Stops at a step boundary, so that another worker can continue from there. */
  drain(): void {
    if (this.#stop || this.#isEnding) return;
    this.#stop = { kind: 'drained' };
    if (this.#handle) this.#handle.drain();
    else this.#giveUp({ kind: 'drained' });
  }

  /** Stops at a step boundary, and ends the run: its thread goes on from there once there is a budget again. */
  #stopFor(budget: ExhaustedBudget): void {
    if (this.#stop || this.#isEnding) return;
    this.#stop = { kind: 'exhausted', reason: exhaustedMessage(budget) };
    if (this.#handle) this.#handle.drain();
    else this.#giveUp({ kind: 'drained' });
  }

  /** Stores why a run ends that a budget has stopped between two steps. One whose last step it was has ended well. */
  async #storeReason({ kind }: ExecutionOutcome): Promise<void> {
    if (kind !== 'drained' || this.#stop?.kind !== 'exhausted') return;
    const { threadId, runId } = this.run;
    try {
      await this.#deps.engine.requestCancel({ threadId, runIds: [runId] }, 'interrupt', this.#stop.reason);
    } catch (error) {
      this.#deps.logger.warn('reason of an interrupted run not stored', { runId, error });
    }
  }

  /** Stops now, to be handed back; work that is not in a checkpoint is repeated. */
  handBack(): void {
    if (this.#isEnding || this.#stop?.kind === 'lost') return;
    this.#stop = { kind: 'drained' };
    this.#handle?.abort('the worker stops');
    this.#giveUp({ kind: 'drained' });
  }

  /** Gives the run back, to begin in another host, because its own became unresponsive before it began the run. */
  #leaveHost(): void {
    if (this.#stop || this.#isEnding) return;
    this.#handle?.abort('its process did not get to it');
    this.#giveUp({ kind: 'drained' });
  }

  #abort(stop: StopReason & { reason: string }): void {
    this.#stop = stop;
    this.#handle?.abort(stop.reason);
    this.#reportUnlessStopped();
    const giveUp = () => this.#giveUp({ kind: 'aborted', values: null, interrupts: null, checkpointId: null });
    // A host that has not begun the run may be busy with others for long, and has no result of it.
    if (this.#hasBegun) this.#unlessStopped(this.#deps.abortGraceMs, giveUp);
    else giveUp();
  }

  /** Gives aborted code some time to obey; a host whose code runs on after that is replaced. */
  #reportUnlessStopped(): void {
    this.#unlessStopped(this.#deps.hostGraceMs, () => this.#slot?.reportUnresponsive());
  }

  #unlessStopped(graceMs: number, onLate: () => void): void {
    if (!this.#handle) return;
    const timer = setTimeout(onLate, graceMs);
    // A stop does not wait for this timer.
    timer.unref();
    void this.#handle.stopped.then(() => clearTimeout(timer));
  }

  async #execute(): Promise<{ hasNextRun: boolean }> {
    const { timeoutMs, metrics, logger } = this.#deps;
    metrics.attemptsStarted.inc();
    if (this.run.attempt > 1) metrics.attemptsRepeated.inc();
    if (this.run.lostForMs !== null) metrics.resumptionLatency.observe(this.run.lostForMs);
    const wait = this.run.attempt === 1 ? metrics.queueWait : metrics.queueWaitOfRetries;
    wait.observe(Math.max(0, Date.now() - this.run.createdAt.getTime()));
    const timeoutSeconds = timeoutMs / 1000;
    const timer = setTimeout(
      () => !this.#stop && this.#abort({ kind: 'timedOut', reason: `the run took longer than ${timeoutSeconds} s` }),
      Math.min(timeoutMs, TIMER_MS_MAX),
    );
    let ending: Ending | undefined;
    try {
      const outcome = await Promise.race([this.#outcome(), this.#givenUp]);
      clearTimeout(timer);
      this.#isEnding = true;
      metrics.executionLatency.observe(performance.now() - this.#startedAt);
      await this.#storeReason(outcome);
      const attribution = this.#slot?.crashAttribution() ?? 'none';
      ending = decideEnding(outcome, this.#stop, { timeoutSeconds, attribution });
      const written = await this.#end.write(ending, { isHandedBack: this.#stop?.kind === 'drained' });
      if (ending.kind === 'finish') this.#reportEnd(ending);
      return written;
    } catch (error) {
      if (error instanceof FencedError) metrics.lost.inc();
      else logger.error('run end failed', { runId: this.run.runId, error });
      return { hasNextRun: false };
    } finally {
      clearTimeout(timer);
      this.#trace.end(ending);
      this.#slot?.release();
    }
  }

  #reportEnd({ status, threadStatus }: Extract<Ending, { kind: 'finish' }>): void {
    const { runId, threadId, kwargs, createdAt } = this.run;
    this.#deps.onEnded?.({ runId, threadId, kwargs, status, threadStatus, ms: Date.now() - createdAt.getTime() });
  }

  async #outcome(): Promise<ExecutionOutcome> {
    const { run } = this;
    let slot: HostSlot;
    try {
      const exhausted = run.budgets === 'enforced' && (await this.#deps.engine.findExhaustedBudget(run.runId));
      if (exhausted) {
        this.#stopFor(exhausted);
        return this.#givenUp;
      }
      slot = await this.#deps.takeSlot(run);
    } catch (error) {
      this.#deps.logger.warn('no graph host for a claimed run', { runId: run.runId, error });
      return { kind: 'drained' };
    }
    if (this.#isEnding || this.#stop) {
      // The run was stopped while it waited for a host slot.
      slot.release();
      return this.#givenUp;
    }
    this.#slot = slot;
    const checkpoints = this.#checkpoints();
    const backends = { store: this.#deps.storeFor(run, slot.host), ...(checkpoints && { checkpoints }) };
    slot.onUnresponsive(() => this.#leaveHost());
    this.#handle = slot.host.startRun(toExecutionRequest(run, this.#trace), backends, {
      onBegun: () => {
        this.#hasBegun = true;
        slot.markBegun();
      },
      onEvents: (events) => this.#publish(events),
      onSpans: (spans) => this.#trace.add(spans),
      onUsage: (usage) => this.#usage.receive(usage),
    });
    const outcome = await this.#handle.settled;
    // The host has aborted it, because storage reported the loss.
    if (outcome.kind === 'fenced' || outcome.kind === 'lost') this.#reportUnlessStopped();
    return outcome;
  }

  #checkpoints(): CheckpointBackend | undefined {
    const checkpoints = this.#deps.checkpointsFor(this.run);
    if (!checkpoints || this.run.budgets !== 'enforced') return checkpoints;
    return new BudgetedCheckpoints(checkpoints, () => this.#usage.tryFlush());
  }

  #publish(events: RunEvent[]): void | Promise<void> {
    const missing = countTooLarge(events);
    if (missing > 0) {
      this.#deps.metrics.lostEvents.inc(missing);
      this.#deps.logger.warn('stream messages too large, left out', { runId: this.run.runId, messages: missing });
    }
    const entries = toAppendEvents(this.#streamed, events);
    const refused = events.length - entries.length;
    if (refused > 0) {
      this.#deps.metrics.lostEvents.inc(refused);
      if (!this.#hasRefusedEvents) {
        this.#deps.logger.warn('graph host sent events that only the platform may write, left out', {
          runId: this.run.runId,
        });
      }
      this.#hasRefusedEvents = true;
    }
    return this.#publisher.addGraphEvents(entries, events.length);
  }
}
