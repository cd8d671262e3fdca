import { randomUUID } from 'node:crypto';
import { ApiServers, type RunEngine } from '@runyard/run-engine';
import { RunStreams } from '@runyard/run-stream';
import { silentLogger as logger, Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import { CronScheduler } from '../../../../services/agent-api/src/crons/cron-scheduler.ts';
import { SweepMetrics } from '../../../../services/agent-api/src/meta/sweep-metrics.ts';
import { ServerRegistration } from '../../../../services/agent-api/src/project/server-registration.ts';
import { createRescueRounds } from '../../../../services/agent-api/src/runs/rescue-rounds.ts';
import { RunWatch } from '../../../../services/agent-api/src/streams/run-watch.ts';
import { createThreadSweeper } from '../../../../services/agent-api/src/threads/thread-sweeper.ts';
import { WebhookSender } from '../../../../services/agent-api/src/webhooks/webhook-sender.ts';
import type { BackgroundPart } from '../start-stop-storm.ts';
import { EVERY_MS, engineOf, nothing, type PartServers } from './part-servers.ts';

export function agentApiParts({ pool, redis, keyPrefix }: PartServers): BackgroundPart[] {
  const engine = engineOf(pool);
  const queue = { redis, keyPrefix };
  const metrics = new SweepMetrics(new Metrics());
  return [
    {
      name: 'thread sweeper',
      open: () => {
        const settings = { sweepEveryMs: EVERY_MS, sweepLimit: 10 } as Parameters<
          typeof createThreadSweeper
        >[0]['settings'];
        return createThreadSweeper({ engine, pool, settings, onDeleted: nothing, metrics, logger });
      },
    },
    { name: 'rescue rounds', open: () => rescue(pool, engine, new RunStreams(queue), metrics) },
    {
      name: 'cron scheduler',
      open: () => {
        const scheduler = new CronScheduler({
          crons: engine.crons,
          graphIds: ['ledger'],
          toRun: () => {
            throw new Error('there are no crons');
          },
          onFired: nothing,
          logger,
        });
        return { start: () => scheduler.start(), stop: () => scheduler.stop() };
      },
    },
    {
      name: 'webhook sender',
      open: () => {
        const claims = {
          claim: async () => ({ claimed: [], nextInMs: EVERY_MS }),
          recordOutcome: async () => undefined,
        };
        const sender = new WebhookSender({
          queue: { ...claims, release: async () => undefined, failAllFor: async () => undefined } as never,
          deliver: async () => {
            throw new Error('there are no webhooks');
          },
          concurrency: 2,
          onResult: nothing,
          logger,
        });
        return { start: () => sender.start(), stop: () => sender.stop(1_000) };
      },
    },
    {
      name: 'server registration',
      open: () => {
        const servers = new ApiServers(pool);
        return new ServerRegistration({ servers, url: 'http://127.0.0.1:1', token: 'token', revisionId: null, logger });
      },
    },
    {
      name: 'run watch',
      open: () => {
        const watch = new RunWatch({
          findInFlight: (runIds) => engine.runsInFlight(runIds),
          onError: nothing,
          checkEveryMs: EVERY_MS,
        });
        return { start: () => watch.watch(randomUUID(), nothing), stop: () => watch.close() };
      },
    },
  ];
}

function rescue(pool: pg.Pool, engine: RunEngine, streams: RunStreams, metrics: SweepMetrics) {
  const rounds = createRescueRounds({
    engine,
    streams,
    state: { refresh: async () => undefined } as never,
    pool,
    metrics,
    logger,
  });
  return {
    start: () => rounds.start(),
    async stop() {
      await rounds.stop();
      await streams.close();
    },
  };
}
