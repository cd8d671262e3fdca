import type { DataCipher } from '@runyard/encryption';
import type { FiredSlot, RunEngine, RunWakeups, WorkSignals } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import type { Logger, Metrics } from '@runyard/service-kit';
import { startRunSpan, type Tracing } from '@runyard/tracing';
import type { AssistantLookup } from '../assistants/assistant-lookup.ts';
import type { PrismaClient } from '../connections/prisma.ts';
import type { ListRoom } from '../http/list-room.ts';
import type { UserPolicy } from '../runs/accepted-run.ts';
import { notifyCancelled } from '../streams/notify-ended.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import type { WebhookTargets } from '../webhooks/webhook-targets.ts';
import type { CronPayload } from './cron-payload.ts';
import { runOfCron } from './cron-runs.ts';
import { CronScheduler } from './cron-scheduler.ts';
import { CronService } from './cron-service.ts';
import { CronStore } from './cron-store.ts';

export interface CronParts extends UserPolicy {
  prisma: PrismaClient;
  cipher: DataCipher;
  listRoom: ListRoom;
  engine: Pick<RunEngine, 'crons' | 'currentEpoch'>;
  assistants: Pick<AssistantLookup, 'find'>;
  threads: Pick<ThreadStore, 'findWithoutState'>;
  wakeups: Pick<RunWakeups, 'wake'>;
  /** Notify the schedulers of all processes of a change. */
  signals: Pick<WorkSignals, 'send' | 'onSignal'>;
  streams: Pick<RunStreams, 'append' | 'publishCancel'>;
  webhooks: Pick<WebhookTargets, 'accept' | 'targetsOf'>;
  graphIds: readonly string[];
  /** The LangSmith project of traces; left out when nothing is traced. */
  tracingProject: string | undefined;
  tracing: Tracing;
  metrics: Metrics;
  logger: Logger;
}

/** Opens the crons of the deployment: the service that callers use, and the scheduler that fires them. */
export function openCrons(parts: CronParts): { service: CronService; scheduler: CronScheduler } {
  const { prisma, engine, assistants, threads, webhooks, wakeups, signals, graphIds, metrics, logger } = parts;
  const { tracing } = parts;
  const slotsTotal = metrics.counter('lg_api_cron_slots_total', 'Slots of crons that were fired.', ['outcome']);
  const scheduler = new CronScheduler({
    crons: engine.crons,
    graphIds,
    toRun: (cron) => {
      // Each slot begins a trace.
      const span = startRunSpan(tracing, 'send', { attributes: { 'runyard.cron.id': cron.cronId } });
      span?.end();
      const run = runOfCron(cron, { ...parts, trace: span?.context });
      // Targets were checked when the cron was created; one that may not be reached any more does not stop its runs.
      return { ...run, webhooks: webhooks.targetsOf((cron.payload as CronPayload).webhook) };
    },
    onFired: (slots) => {
      for (const slot of slots) slotsTotal.inc({ outcome: outcomeOf(slot) });
      if (slots.some(({ run }) => run !== undefined)) wakeups.wake('created');
      const cancelled = slots.flatMap((slot) => slot.cancelled);
      if (cancelled.length > 0) void notifyCancelled(parts, cancelled);
    },
    logger,
  });
  const store = new CronStore(prisma, parts.cipher, parts.listRoom);
  signals.onSignal(() => scheduler.wake());
  const onScheduled = () => signals.send();
  return { scheduler, service: new CronService({ store, assistants, threads, webhooks, onScheduled }) };
}

function outcomeOf({ refusal, postponement }: FiredSlot): 'run' | 'refused' | 'postponed' {
  if (postponement) return 'postponed';
  return refusal ? 'refused' : 'run';
}
