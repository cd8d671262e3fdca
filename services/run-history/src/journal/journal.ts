import type { CloudEvent, RunEvent } from '@runyard/contracts';
import { isDataError, withTransaction } from '@runyard/database';
import type { Logger, Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import { timeOfId } from '../runs/run-id-time.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import { StatisticChanges } from '../statistics/statistic-changes.ts';
import { writeStatistics } from '../statistics/write-statistics.ts';
import { applyRunEvent, attemptOf } from './apply-event.ts';
import { createPartitions, type Day, dayOf, takeWriterLock } from './partitions.ts';
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
  logger: Logger;
  metrics: Metrics;
}

/** An id may be ahead of the clock here by so many days. */
const DAYS_AHEAD = 1;

/** Why an event is not in the journal. */
type LeftOut = 'unknown_deployment' | 'other_deployment' | 'expired' | 'invalid_id' | 'refused';

/** Keeps what the events of runs say, each of them once. */
export class Journal {
  readonly #dependencies: Dependencies;
  readonly #instruments: ReturnType<typeof instrumentsOf>;
  /** Days whose partitions are known to exist. */
  readonly #days = new Set<Day>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#instruments = instrumentsOf(dependencies.metrics);
  }

  /**
   * Applies events of the topic `runs`, those of each run in their order. All of them or none are stored when it throws
   * because the database or control-plane is away. One that the database refuses by itself is left out.
   */
  async apply(events: readonly CloudEvent[]): Promise<void> {
    const accepted = await this.#accept(events as readonly RunEvent[]);
    if (accepted.length > 0) await this.#storeAllButRefused(accepted);
    this.#instruments.lag.set(Math.max(0, (Date.now() - Date.parse(events[0]!.time)) / 1000));
  }

  async #accept(events: readonly RunEvent[]): Promise<AcceptedEvent[]> {
    const deploymentIds = new Set(events.map(({ data }) => data.deployment_id.toLowerCase()));
    const workspaces = await this.#dependencies.deployments.findWorkspaces(deploymentIds);
    const accepted: AcceptedEvent[] = [];
    for (const event of events) {
      const workspaceId = workspaces.get(event.data.deployment_id.toLowerCase());
      const day = this.#dayOf(event);
      if (workspaceId === undefined) this.#leaveOut(event, 'unknown_deployment');
      else if (typeof day === 'string') this.#leaveOut(event, day);
      else accepted.push({ event, workspaceId, day });
    }
    return accepted;
  }

  #dayOf({ data }: RunEvent): Day | 'expired' | 'invalid_id' {
    const time = timeOfId(data.run_id);
    if (time === undefined || dayOf(time) > dayOf(Date.now()) + DAYS_AHEAD) return 'invalid_id';
    return dayOf(time) < oldestDay(this.#dependencies.retentionDays) ? 'expired' : dayOf(time);
  }

  /** Stores the events together, or one by one where the database refuses them together. */
  async #storeAllButRefused(accepted: AcceptedEvent[]): Promise<void> {
    try {
      await this.#store(accepted);
      for (const { event } of accepted) this.#instruments.events.inc({ kind: event.type });
    } catch (error) {
      if (!isDataError(error)) throw error;
      if (accepted.length > 1) {
        for (const each of accepted) await this.#storeAllButRefused([each]);
        return;
      }
      const { event } = accepted[0]!;
      this.#dependencies.logger.error('event of a run refused by the database', {
        type: event.type,
        id: event.id,
        error,
      });
      this.#leaveOut(event, 'refused');
    }
  }

  async #store(accepted: AcceptedEvent[]): Promise<void> {
    const { pool } = this.#dependencies;
    const missing = new Set(accepted.map(({ day }) => day).filter((day) => !this.#days.has(day)));
    const foreign = await withTransaction(pool, async (client) => {
      await takeWriterLock(client);
      await createPartitions(client, missing);
      return storeEvents(client, accepted);
    });
    for (const { event } of foreign) this.#leaveOut(event, 'other_deployment');
    for (const day of missing) this.#days.add(day);
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
  /** The day of the run. */
  day: Day;
}

/** Returns the first day whose runs are kept. */
export function oldestDay(retentionDays: number): Day {
  return dayOf(Date.now()) - retentionDays;
}

/** Returns the events that were not stored: their run is one of another deployment, which alone may speak of it. */
async function storeEvents(client: pg.ClientBase, accepted: AcceptedEvent[]): Promise<AcceptedEvent[]> {
  const known = await readRuns(client, [...new Set(accepted.map(({ event }) => event.data.run_id.toLowerCase()))]);
  const changed = new Map<string, StoredRun>();
  const foreign: AcceptedEvent[] = [];
  const own: RunEvent[] = [];
  for (const each of accepted) {
    const { event, workspaceId } = each;
    const id = event.data.run_id.toLowerCase();
    const run = changed.get(id) ?? known.get(id);
    if (run && run.deployment_id !== event.data.deployment_id.toLowerCase()) {
      foreign.push(each);
      continue;
    }
    changed.set(id, applyRunEvent(run, event, workspaceId));
    own.push(event);
  }
  if (own.length === 0) return foreign;
  const statistics = new StatisticChanges();
  for (const [id, run] of changed) statistics.add(known.get(id), run);
  await writeRuns(client, [...changed.values()]);
  await writeAttempts(
    client,
    own.flatMap((event) => attemptOf(event) ?? []),
  );
  await writeStatistics(client, statistics);
  return foreign;
}

function instrumentsOf(metrics: Metrics) {
  return {
    events: metrics.counter('run_history_events_total', 'Events of runs that were stored.', ['kind']),
    leftOut: metrics.counter('run_history_left_out_total', 'Events of runs that are not in the journal.', ['reason']),
    lag: metrics.gauge('run_history_lag_seconds', 'Age of the oldest event of the newest batch when it was stored.'),
  };
}
