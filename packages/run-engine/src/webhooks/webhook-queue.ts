import { toSqlJson, withoutBeforeRows } from '@runyard/database';
import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import type pg from 'pg';
import { decodeSecrets } from './push-secrets.ts';
import type { PushDelivery, PushVersion } from './push-types.ts';
import type {
  ClaimedWebhook,
  WebhookAttempt,
  WebhookContent,
  WebhookDelivery,
  WebhookOutcome,
  WebhookRun,
} from './types.ts';
import { DUE_HOSTS, nextDueAt } from './waiting-hosts.ts';

/** A number of deliveries, and the bytes of their content. */
export interface WebhookLoad {
  count: number;
  bytes: number;
}

export interface WebhookClaim {
  /** The limit of this claim. The last delivery may exceed the bytes: one delivery is never too large. */
  limit: WebhookLoad;
  /** The limit per host, including deliveries in flight here. */
  limitPerHost: WebhookLoad;
  /** Deliveries in flight here, by host. */
  inFlight: ReadonlyMap<string, WebhookLoad>;
  /** Milliseconds after which a delivery that is not settled may be claimed again. */
  leaseMs: number;
}

export interface WebhookClaims {
  claimed: ClaimedWebhook[];
  /**
   * Milliseconds until another may be due, 0 when some were claimed; null when there is none, or all the rest waits for
   * the limit of its host.
   */
  nextInMs: number | null;
}

const SWEEP_BATCH = 1_000;

/**
 * Claims what is due: of each host the oldest first, and before a host's next delivery the first of another, so that a
 * caller whose receivers are silent keeps no one else waiting.
 */
export const CLAIM = `${DUE_HOSTS}, fair AS (
    SELECT d.delivery_id, d.due_at, d.bytes,
           coalesce(b.count, 0) + row_number() OVER (PARTITION BY h.host ORDER BY d.due_at, d.delivery_id) AS place,
           coalesce(b.bytes, 0) + sum(d.bytes) OVER (PARTITION BY h.host ORDER BY d.due_at, d.delivery_id) - d.bytes
             AS before_on_host
    FROM hosts h LEFT JOIN unnest($3::text[], $4::integer[], $5::float8[]) AS b (host, count, bytes) ON b.host = h.host
    CROSS JOIN LATERAL (
      SELECT w.delivery_id, w.due_at, octet_length(w.kwargs) + coalesce(octet_length(w.result), 0) AS bytes
      FROM webhook_delivery w
      WHERE w.status = 'pending' AND w.host = h.host AND w.due_at <= now()
      ORDER BY w.due_at LIMIT greatest($2 - coalesce(b.count, 0), 0) FOR UPDATE SKIP LOCKED
    ) d
  ), measured AS (
    SELECT delivery_id, due_at, place, sum(bytes) OVER (ORDER BY place, due_at, delivery_id) - bytes AS before
    FROM fair WHERE before_on_host < $7::float8
  ), taken AS (
    SELECT delivery_id FROM measured WHERE before < $6::float8 ORDER BY place, due_at LIMIT $1
  )
  UPDATE webhook_delivery w
  SET due_at = now() + make_interval(secs => $8::float8 / 1000), attempts = w.attempts + 1
  FROM taken WHERE w.delivery_id = taken.delivery_id
  RETURNING w.delivery_id, w.url, w.host, w.attempts, w.run, w.kwargs, w.result, w.push, w.push_secrets,
            (extract(epoch FROM now() - w.created_at) * 1000)::float8 AS waited_ms`;

/** Tries of a delivery in its log: it may be sent again by hand any number of times. */
const ATTEMPTS_KEPT = 100;

/**
 * The durable queue of webhook deliveries for ended runs. Any number of processes may claim from it; a delivery has one
 * owner at a time.
 */
export class WebhookQueue {
  readonly #pool: pg.Pool;
  readonly #cipher: DataCipher;

  constructor(pool: pg.Pool, cipher: DataCipher = NO_ENCRYPTION) {
    this.#pool = pool;
    this.#cipher = cipher;
  }

  /**
   * Claims due deliveries. A try counts when it is claimed, so that one that kills its process ends too.
   * No delivery waits until the content of another is decrypted.
   */
  async claim({ limit, limitPerHost, inFlight, leaseMs }: WebhookClaim): Promise<WebhookClaims> {
    const busy = [...inFlight];
    const claim = withoutBeforeRows({
      name: 'webhooks_claim',
      text: CLAIM,
      values: [
        limit.count,
        limitPerHost.count,
        busy.map(([host]) => host),
        busy.map(([, { count }]) => count),
        busy.map(([, { bytes }]) => bytes),
        limit.bytes,
        limitPerHost.bytes,
        leaseMs,
      ],
    });
    const { rows } = await this.#pool.query<ClaimedRow>(claim);
    const claimed = rows.map((row) => this.#webhookOf(row));
    const isFull = ({ count, bytes }: WebhookLoad) => count >= limitPerHost.count || bytes >= limitPerHost.bytes;
    const full = busy.filter(([, load]) => isFull(load)).map(([host]) => host);
    return { claimed, nextInMs: rows.length > 0 ? 0 : await this.#nextInMs(full) };
  }

  #webhookOf(row: ClaimedRow): ClaimedWebhook {
    return {
      deliveryId: row.delivery_id,
      url: row.url,
      host: row.host,
      attempt: row.attempts,
      waitedMs: row.waited_ms,
      bytes: row.kwargs.byteLength + (row.result?.byteLength ?? 0),
      readContent: () => this.#decrypt(row),
    };
  }

  async #decrypt(row: ClaimedRow): Promise<WebhookContent> {
    await this.#cipher.loadKeys([row]);
    return {
      run: { ...row.run, metadata: this.#cipher.json.decrypt(row.run.metadata) },
      kwargs: this.#cipher.decrypt(row.kwargs),
      values: row.result && this.#cipher.decrypt(row.result),
      push: pushOf(row, this.#cipher),
    };
  }

  async #nextInMs(fullHosts: string[]): Promise<number | null> {
    const { rows } = await this.#pool.query<{ ms: number | null }>({
      name: 'webhooks_next',
      // greatest() skips nulls: without the CASE nothing to send would mean something to send now.
      text: `SELECT CASE WHEN n.due_at IS NOT NULL
                         THEN greatest(0, extract(epoch FROM n.due_at - clock_timestamp()) * 1000)::float8 END AS ms
             FROM (SELECT ${nextDueAt('$1::text[]')} AS due_at) n`,
      values: [fullHosts],
    });
    return rows[0]?.ms ?? null;
  }

  /**
   * Records the result of a try. What was delivered needs its content no more; that of a failed delivery stays with its
   * log, to be sent again by hand. False when its lease had expired and another process has tried again.
   */
  async recordOutcome(outcome: WebhookOutcome): Promise<boolean> {
    const isRetried = outcome.retryInMs !== null;
    const status = isRetried ? 'pending' : outcome.error === null ? 'delivered' : 'failed';
    const attempt = {
      started_at: outcome.startedAt.toISOString(),
      duration_ms: outcome.durationMs,
      status_code: outcome.statusCode,
      error: outcome.error,
    };
    const { rowCount } = await this.#pool.query({
      name: 'webhooks_settle',
      text: `UPDATE webhook_delivery
             SET status = $3,
                 log = CASE WHEN jsonb_array_length(log) < ${ATTEMPTS_KEPT} THEN log ELSE log - 0 END || $4::jsonb,
                 due_at = CASE WHEN $5::float8 IS NULL THEN NULL ELSE now() + make_interval(secs => $5::float8 / 1000) END,
                 ended_at = CASE WHEN $5::float8 IS NULL THEN now() END,
                 run = CASE WHEN $3 <> 'delivered' THEN run END,
                 kwargs = CASE WHEN $3 <> 'delivered' THEN kwargs END,
                 result = CASE WHEN $3 <> 'delivered' THEN result END,
                 push_secrets = CASE WHEN $3 <> 'delivered' THEN push_secrets END
             WHERE delivery_id = $1 AND attempts = $2 AND status = 'pending'`,
      values: [outcome.deliveryId, outcome.attempt, status, toSqlJson([attempt]), outcome.retryInMs],
    });
    return rowCount === 1;
  }

  /** Ends all deliveries to a receiver that was removed for good; returns how many. */
  async failAllFor(url: string, host: string, error: string): Promise<number> {
    const { rowCount } = await this.#pool.query({
      name: 'webhooks_fail_all_for',
      text: `UPDATE webhook_delivery
             SET status = 'failed', due_at = NULL, ended_at = now(),
                 log = log || jsonb_build_array(jsonb_build_object('started_at', now(), 'duration_ms', 0,
                                                                   'status_code', NULL, 'error', $3::text))
             WHERE status = 'pending' AND host = $2 AND url = $1`,
      values: [url, host, error],
    });
    return rowCount ?? 0;
  }

  /** Releases deliveries that were claimed and not tried; they are due after that time and the try does not count. */
  async release(deliveries: { deliveryId: string; attempt: number }[], dueInMs = 0): Promise<void> {
    if (deliveries.length === 0) return;
    await this.#pool.query({
      name: 'webhooks_release',
      text: `UPDATE webhook_delivery w SET due_at = now() + make_interval(secs => $3::float8 / 1000), attempts = w.attempts - 1
             FROM unnest($1::uuid[], $2::integer[]) AS i (delivery_id, attempt)
             WHERE w.delivery_id = i.delivery_id AND w.attempts = i.attempt AND w.status = 'pending'`,
      values: [deliveries.map(({ deliveryId }) => deliveryId), deliveries.map(({ attempt }) => attempt), dueInMs],
    });
  }

  /**
   * Sends a delivery again that has ended, or sooner than planned, with all its tries. One that is being tried, for up
   * to `leaseMs`, stays as it is, and so does one without content.
   */
  async redeliver(
    { threadId, runId, deliveryId }: { threadId: string; runId: string; deliveryId: string },
    leaseMs: number,
  ): Promise<void> {
    await this.#pool.query({
      name: 'webhooks_redeliver',
      text: `UPDATE webhook_delivery SET status = 'pending', due_at = now(), attempts = 0, ended_at = NULL
             WHERE delivery_id = $1 AND run_id = $2 AND thread_id = $3 AND run IS NOT NULL
               AND (status <> 'pending' OR due_at > now() + make_interval(secs => $4::float8 / 1000))`,
      values: [deliveryId, runId, threadId, leaseMs],
    });
  }

  /** Returns the log of a run, in the order of its receivers. */
  async listOfRun(threadId: string, runId: string): Promise<WebhookDelivery[]> {
    const { rows } = await this.#pool.query({
      name: 'webhooks_of_run',
      text: `SELECT delivery_id, url, status, due_at, log, created_at, ended_at, run IS NOT NULL AS has_content
             FROM webhook_delivery WHERE run_id = $1 AND thread_id = $2 ORDER BY position`,
      values: [runId, threadId],
    });
    return rows.map((row) => ({
      deliveryId: row.delivery_id,
      url: row.url,
      status: row.status,
      attempts: (row.log as LoggedAttempt[]).map(attemptOf),
      dueAt: row.due_at,
      createdAt: row.created_at,
      endedAt: row.ended_at,
      hasContent: row.has_content,
    }));
  }

  /** Removes log rows of deliveries that ended longer ago than that; returns how many, at most a batch. */
  async removeOld(olderThanMs: number): Promise<number> {
    const { rowCount } = await this.#pool.query({
      name: 'webhooks_remove_old',
      text: `DELETE FROM webhook_delivery WHERE delivery_id IN (
               SELECT delivery_id FROM webhook_delivery
               WHERE ended_at < now() - make_interval(secs => $1::float8 / 1000)
               ORDER BY ended_at LIMIT ${SWEEP_BATCH} FOR UPDATE SKIP LOCKED)`,
      values: [olderThanMs],
    });
    return rowCount ?? 0;
  }

  /** Returns the number of deliveries that wait for a try. */
  async countPending(): Promise<number> {
    const { rows } = await this.#pool.query<{ count: string }>({
      name: 'webhooks_pending',
      text: `SELECT count(*) AS count FROM webhook_delivery WHERE status = 'pending'`,
    });
    return Number(rows[0]!.count);
  }
}

interface ClaimedRow {
  delivery_id: string;
  url: string;
  host: string;
  attempts: number;
  waited_ms: number;
  run: WebhookRun;
  kwargs: Buffer;
  result: Buffer | null;
  push: { task_id: string; config_id: string; version: PushVersion } | null;
  push_secrets: Buffer | null;
}

/** @throws EncryptionError */
function pushOf({ push, push_secrets }: ClaimedRow, cipher: DataCipher): PushDelivery | null {
  if (!push || !push_secrets) return null;
  const { task_id: taskId, config_id: configId, version } = push;
  return { taskId, configId, version, secrets: decodeSecrets(push_secrets, cipher) };
}

interface LoggedAttempt {
  started_at: string;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
}

function attemptOf(logged: LoggedAttempt): WebhookAttempt {
  return {
    startedAt: new Date(logged.started_at),
    durationMs: logged.duration_ms,
    statusCode: logged.status_code,
    error: logged.error,
  };
}
