import type { CloudEvent, RunEvent } from '@runyard/contracts';
import {
  isConnectionLost,
  isLockTimeout,
  isPoolBusy,
  isRetryable,
  isTimeoutOrOutOfMemory,
  isUnavailable,
  withTransaction,
} from '@runyard/database';
import type { Logger, Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import { countBudgets } from '../budgets/count-budgets.ts';
import { timeOfId } from '../runs/run-id-time.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import { StatisticChanges } from '../statistics/statistic-changes.ts';
import { writeStatistics } from '../statistics/write-statistics.ts';
import { isUsed, UsageChanges } from '../usage/usage-changes.ts';
import { readUsage, writeUsage } from '../usage/write-usage.ts';
import { takeWriterLock } from '../writer-lock.ts';
import { applyRunEvent, attemptOf } from './apply-event.ts';
import { findFault, type LeftOut } from './check-event.ts';
import { createPartitions, weekOf } from './partitions.ts';
import { readRuns, writeAttempts, writeRuns } from './write-runs.ts';

/** Says which workspaces deployments belong to. */
interface Deployments {
  /** Returns the workspaces of those that exist. @throws Error when nobody can say it at the moment */
  findWorkspaces(deploymentIds: ReadonlySet<string>): Promise<ReadonlyMap<string, string>>;
}

interface Dependencies {
  pool: pg.Pool;
  deployments: Deployments;
  retentionDays: number;
  /** Is called after something was stored by which a budget is used up. */
  onUsedUp: () => void;
  logger: Logger;
  metrics: Metrics;
}

/** Keeps what the events of runs say, each of them once. */
export class Journal {
  readonly #dependencies: Dependencies;
  readonly #instruments: ReturnType<typeof instrumentsOf>;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#instruments = instrumentsOf(dependencies.metrics);
  }

  /**
   * Applies events of the topic `runs`, those of each run in their order. When the database or control-plane is away, it
   * throws, and the events have to come again. An event that fails for any other reason is left out.
   *
   * @param source see `findFault`
   */
  async apply(events: readonly CloudEvent[], source?: string): Promise<void> {
    const valid = (events as readonly RunEvent[]).filter((event) => {
      const fault = findFault(event, this.#dependencies.retentionDays, source);
      if (fault) this.#leaveOut(event, fault);
      return fault === undefined;
    });
    const [oldest] = valid;
    if (!oldest) return;
    // Before they are stored: while that fails, the lag grows.
    this.#instruments.lag.set(Math.max(0, (Date.now() - Date.parse(oldest.time)) / 1000));
    const workspaces = await this.#dependencies.deployments.findWorkspaces(new Set(valid.map(deploymentOf)));
    const known = valid.flatMap((event) => {
      const workspaceId = workspaces.get(deploymentOf(event));
      if (workspaceId === undefined) this.#leaveOut(event, 'unknown_deployment');
      return workspaceId === undefined ? [] : [{ event, workspaceId }];
    });
    await this.#storeAllButRefused(known);
  }

  /** Stores events together, or by halves where some of them cannot be stored. */
  async #storeAllButRefused(accepted: AcceptedEvent[]): Promise<void> {
    if (accepted.length === 0) return;
    try {
      const { stored, leftOut, isUsedUp } = await this.#store(accepted);
      if (isUsedUp) this.#dependencies.onUsedUp();
      for (const { type } of stored) this.#instruments.events.inc({ kind: type });
      for (const [reason, event] of leftOut) this.#leaveOut(event, reason);
    } catch (error) {
      if (mayPass(error)) throw error;
      if (accepted.length > 1) {
        const middle = Math.ceil(accepted.length / 2);
        await this.#storeAllButRefused(accepted.slice(0, middle));
        await this.#storeAllButRefused(accepted.slice(middle));
        return;
      }
      const { event } = accepted[0]!;
      this.#dependencies.logger.error('event of a run refused', { type: event.type, id: event.id, error });
      this.#leaveOut(event, 'refused');
    }
  }

  #store(accepted: AcceptedEvent[]): Promise<Outcome> {
    return withTransaction(this.#dependencies.pool, async (client) => {
      await takeWriterLock(client);
      await createPartitions(client, new Set(accepted.map(({ event }) => weekOf(timeOfId(event.data.run_id)!))));
      return storeEvents(client, accepted);
    });
  }

  #leaveOut(event: RunEvent, reason: LeftOut): void {
    this.#instruments.leftOut.inc({ reason });
    const { run_id, deployment_id } = event.data;
    this.#dependencies.logger.debug('event of a run left out', { reason, type: event.type, run_id, deployment_id });
  }
}

interface AcceptedEvent {
  event: RunEvent;
  workspaceId: string;
}

interface Outcome {
  stored: RunEvent[];
  leftOut: [LeftOut, RunEvent][];
  /** True when it has used a budget up. */
  isUsedUp: boolean;
}

const deploymentOf = ({ data }: RunEvent) => data.deployment_id.toLowerCase();
const runOf = ({ data }: RunEvent) => data.run_id.toLowerCase();

/** Returns whether the same events may be stored later: an event is not to blame. */
function mayPass(error: unknown): boolean {
  return [isUnavailable, isConnectionLost, isRetryable, isTimeoutOrOutOfMemory, isLockTimeout, isPoolBusy].some((is) =>
    is(error),
  );
}

/** Stores events under the lock of the writer. */
async function storeEvents(client: pg.ClientBase, accepted: AcceptedEvent[]): Promise<Outcome> {
  const known = await readRuns(client, [...new Set(accepted.map(({ event }) => runOf(event)))]);
  const kept = await markChangedDeployments(client, [...new Set(accepted.map(({ event }) => deploymentOf(event)))]);
  const runs = new Map<string, StoredRun>();
  const statistics = new StatisticChanges();
  const usage = new UsageChanges(
    await readUsage(
      client,
      accepted.flatMap(({ event }) => (isUsed(event) ? [event.data] : [])),
    ),
  );
  const leftOut: [LeftOut, RunEvent][] = [];
  const stored: RunEvent[] = [];
  for (const { event, workspaceId } of accepted) {
    const before = runs.get(runOf(event)) ?? known.get(runOf(event));
    // Only its own deployment may speak of a run.
    const isForeign = before !== undefined && before.deployment_id !== deploymentOf(event);
    if (isForeign || !kept.has(deploymentOf(event))) {
      leftOut.push([isForeign ? 'other_deployment' : 'unknown_deployment', event]);
      continue;
    }
    const applied = applyRunEvent(before, event, workspaceId);
    const after = isUsed(event) ? usage.addUsed(applied, event, new Date(event.time).toISOString()) : applied;
    if (!before?.created_at && after.created_at) usage.addRun(after);
    statistics.add(before, after, new Date(event.time).toISOString());
    runs.set(runOf(event), after);
    stored.push(event);
  }
  if (stored.length === 0) return { stored, leftOut, isUsedUp: false };
  await writeRuns(client, [...runs.values()]);
  await writeAttempts(
    client,
    stored.flatMap((event) => attemptOf(event) ?? []),
  );
  await writeStatistics(client, statistics);
  await writeUsage(client, usage);
  return { stored, leftOut, isUsedUp: await countBudgets(client, usage) };
}

/**
 * Marks the deployments for `JournalChanges`, and returns those whose history is not being removed. A second statement
 * for the mark would be felt in small batches.
 */
async function markChangedDeployments(client: pg.ClientBase, deploymentIds: string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ deployment_id: string }>({
    name: 'history_changed_deployments',
    text: `UPDATE deployment SET last_change = nextval('journal_change')
           WHERE deployment_id = ANY($1::uuid[]) AND NOT is_deleted RETURNING deployment_id`,
    values: [deploymentIds],
  });
  return new Set(rows.map((row) => row.deployment_id));
}

function instrumentsOf(metrics: Metrics) {
  return {
    events: metrics.counter('run_history_events_total', 'Events of runs that were stored.', ['kind']),
    leftOut: metrics.counter('run_history_left_out_total', 'Events of runs that are not in the journal.', ['reason']),
    lag: metrics.gauge('run_history_lag_seconds', 'Age of the oldest event of the batch that is stored, or was last.'),
  };
}
