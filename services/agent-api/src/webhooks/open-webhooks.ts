import type { DataCipher } from '@runyard/encryption';
import { Lease } from '@runyard/leases';
import { HostnameChecker, OutboundClient, OutboundPolicy } from '@runyard/outbound';
import type { Project } from '@runyard/project';
import { WebhookQueue, type WorkSignals } from '@runyard/run-engine';
import { ConfigError, type Logger, type Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import type { RequireRun } from '../access/require-run.ts';
import type { RouteGuard } from '../auth/route-guard.ts';
import type { Config } from '../config.ts';
import { deliverWebhook, type PushContent, type SendRequest } from './deliver-webhook.ts';
import { WebhookLog, webhookLogRoutes } from './webhook-log.ts';
import { registerWebhookMetrics } from './webhook-metrics.ts';
import { createWebhookRetention } from './webhook-retention.ts';
import { WebhookSender } from './webhook-sender.ts';
import { type WebhookSettings, webhookSettings } from './webhook-settings.ts';
import { isAppPath, WebhookTargets } from './webhook-targets.ts';

export interface WebhookParts {
  config: Pick<
    Config,
    | 'OUTBOUND_ALLOWED_NETWORKS'
    | 'WEBHOOK_SIGNING_SECRETS'
    | 'WEBHOOKS_DISABLED'
    | 'WEBHOOK_CONCURRENCY'
    | 'WEBHOOK_LOG_RETENTION_HOURS'
  >;
  project: Pick<Project, 'webhooks' | 'http' | 'app' | 'auth'>;
  /** The environment of the project's code (`environment`) and of this process (`own`). */
  environment: Record<string, string | undefined>;
  serviceEnvironment: Record<string, string | undefined>;
  pool: pg.Pool;
  cipher: DataCipher;
  signals: Pick<WorkSignals, 'send' | 'onSignal'>;
  /** Makes the content of push notifications. */
  pushContent: PushContent;
  logger: Logger;
  metrics: Metrics;
}

/** Milliseconds that tries in flight may take when the service stops. */
const STOP_PATIENCE_MS = 3_000;

/**
 * Opens webhooks: the targets of runs, the sending, and its log.
 *
 * @throws ConfigError that names the faults of the settings
 */
export function openWebhooks(parts: WebhookParts) {
  const { config, project, pool, cipher, signals, pushContent, logger, metrics } = parts;
  const settings = webhookSettings({
    section: project.webhooks,
    environment: parts.environment,
    serviceEnvironment: parts.serviceEnvironment,
    allowedNetworks: config.OUTBOUND_ALLOWED_NETWORKS,
    signingSecrets: config.WEBHOOK_SIGNING_SECRETS,
  });
  const policy = policyOf(settings);
  const isEnabled = !config.WEBHOOKS_DISABLED && project.http?.disable_webhooks !== true;
  if (isEnabled) for (const warning of settings.warnings) logger.warn(warning);
  const names = new HostnameChecker(policy);
  const targets = new WebhookTargets({
    settings,
    policy,
    names,
    isEnabled,
    hasApp: project.app !== null,
    hasGuardedApp: project.auth !== null && project.http?.enable_custom_route_auth === true,
  });
  requireReachableDefaults(targets);

  const queue = new WebhookQueue(pool, cipher);
  const client = new OutboundClient(policy);
  const stopping = new AbortController();
  const sendOutside: SendRequest = (url, request) => client.request(url, request);
  let send = sendOutside;
  const countResult = registerWebhookMetrics(metrics, queue);
  const sender = new WebhookSender({
    queue,
    deliver: (webhook) => deliverWebhook(webhook, { settings, send, pushContent, signal: stopping.signal }),
    concurrency: config.WEBHOOK_CONCURRENCY,
    onResult: (result) => {
      countResult(result.kind);
      const { kind, deliveryId, attempt, statusCode, error, cause } = result;
      if (cause !== undefined) {
        logger.warn('webhook not decrypted', { deliveryId, attempt, retryInMs: result.retryInMs, error: cause });
      }
      if (kind === 'failed' || kind === 'refused') {
        logger.warn('webhook not delivered', { deliveryId, attempt, statusCode, error });
      }
    },
    logger,
  });
  const retention = createWebhookRetention({
    queue,
    lease: new Lease(pool, { name: 'webhook log sweep', leaseMs: 120_000 }),
    keptMs: config.WEBHOOK_LOG_RETENTION_HOURS * 3_600_000,
    logger,
  });
  return {
    targets,
    /** False when the deployment sends none. */
    isEnabled,
    routes: (requireRun: RequireRun, guard: RouteGuard) =>
      webhookLogRoutes(new WebhookLog({ queue, targets, requireRun, onQueued: () => signals.send() }), guard),
    /** Starts sending. `sendToApp` calls the project's own app, if it has one. */
    start(sendToApp: SendRequest = sendOutside) {
      retention.start();
      if (!isEnabled) return;
      send = (url, request) => (isAppPath(url) ? sendToApp : sendOutside)(url, request);
      signals.onSignal(() => sender.wake());
      sender.start();
    },
    async stop() {
      await retention.stop();
      await sender.stop(STOP_PATIENCE_MS);
      stopping.abort();
      await client.close();
    },
  };
}

function policyOf({ rules }: WebhookSettings): OutboundPolicy {
  try {
    return new OutboundPolicy(rules);
  } catch (error) {
    throw new ConfigError([`OUTBOUND_ALLOWED_NETWORKS: ${(error as Error).message}`]);
  }
}

function requireReachableDefaults(targets: WebhookTargets): void {
  const problems = targets
    .targetsOf(undefined)
    .flatMap(({ url, refusal }) => (refusal ? [`langgraph.json: webhooks.default_url "${url}": ${refusal}.`] : []));
  if (problems.length > 0) throw new ConfigError(problems);
}
