import { getHealth, getMetrics, getRoot } from '@runyard/contracts';
import {
  answerHealth,
  type BoundOperation,
  bind,
  ok,
  type ReadinessChecks,
  type ServiceContext,
} from '@runyard/service-kit';
import type { Config } from '../config.ts';
import { infoRoutes } from './info.ts';
import { metricsAsJson } from './metrics-json.ts';

export interface MetaParts {
  context: ServiceContext;
  config: Config;
  /** Decides whether the server is ready. */
  readiness: ReadinessChecks;
  /** States that are reported besides readiness: some requests fail in them, and the server heals by itself. */
  reports: Record<string, () => string>;
}

/** Serves health, metrics and information about the server. The app makes the OpenAPI document from the operations. */
export function metaRoutes(parts: MetaParts): BoundOperation[] {
  const { context, config } = parts;
  return [
    ...infoRoutes(config),
    ...[getHealth, getRoot].map((operation) =>
      bind(operation, ({ query }) => healthOf(parts, isTrueFlag(query.check_db))),
    ),
    bind(getMetrics, async ({ query }) => {
      const { metrics } = context;
      if (query.format === 'json') return ok(metricsAsJson(await metrics.values(), config.METRIC_PREFIX));
      return ok(await metrics.text(), { 'content-type': metrics.registry.contentType });
    }),
  ];
}

async function healthOf({ context, readiness, reports }: MetaParts, ready: boolean) {
  const reply = await answerHealth(context, readiness, ready);
  const { ok: isOk, services } = reply.body as { ok?: boolean; services?: Record<string, string> };
  if (!ready || !isOk) return reply;
  const reported = Object.entries(reports).map(([name, report]) => [name, report()] as const);
  return ok({ ok: true, services: { ...services, ...Object.fromEntries(reported) } });
}

function isTrueFlag(flag: string | undefined): boolean {
  return flag !== undefined && !['', '0', 'false'].includes(flag.toLowerCase());
}
