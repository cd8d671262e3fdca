import { cacheForScrape, type Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import { SET_ASIDE } from './unpublished-rows.ts';

/** Maximum number of counted rows: after a long outage of the bus, a scrape must not read the whole outbox. */
const COUNTED_MAX = 100_000;

/**
 * Reports the lag of an outbox. It is read from the database, so every process with a relay reports the same, even
 * while the active relay is stalled.
 */
export function reportOutboxMetrics(metrics: Metrics, pool: pg.Pool): void {
  const behind = cacheForScrape(() => readOutboxBacklog(pool));
  const gauge = (name: string, help: string, value: (outbox: OutboxBacklog) => number) =>
    metrics.gauge(name, help, [], async (each) => {
      const outbox = await behind();
      if (outbox) each.set(value(outbox));
      else each.remove();
    });
  gauge('outbox_lag_seconds', 'Age of the oldest event not yet published.', (outbox) => outbox.lagSeconds);
  gauge('outbox_rows', `Events not yet published, counted up to ${COUNTED_MAX}.`, (outbox) => outbox.rows);
}

interface OutboxBacklog {
  lagSeconds: number;
  rows: number;
}

async function readOutboxBacklog(pool: pg.Pool): Promise<OutboxBacklog> {
  const { rows } = await pool.query<OutboxBacklog>({
    name: 'outbox_behind',
    text: `SELECT coalesce((SELECT extract(epoch FROM clock_timestamp() - created_at) FROM outbox
                    WHERE NOT topic LIKE '%${SET_ASIDE}' ORDER BY id LIMIT 1), 0)::float8
                    AS "lagSeconds",
                  (SELECT count(*) FROM (SELECT 1 FROM outbox
                    WHERE NOT topic LIKE '%${SET_ASIDE}' LIMIT ${COUNTED_MAX}) AS counted)::integer AS rows`,
  });
  return rows[0]!;
}

export type OutboxInstruments = ReturnType<typeof createOutboxInstruments>;

/** Returns the metrics of what the relay of this process does. */
export function createOutboxInstruments(metrics: Metrics) {
  return {
    published: metrics.counter('outbox_published_total', 'Events published from the outbox.', ['topic']),
    failures: metrics.counter('outbox_failures_total', 'Attempts to publish the outbox that failed.'),
    setAside: metrics.counter('outbox_set_aside_total', 'Events that are too large for the bus, left in the outbox.', [
      'topic',
    ]),
    active: metrics.gauge(
      'outbox_relay_active',
      'Whether the relay of this process has the lease: 1 in one process per database.',
    ),
  };
}
