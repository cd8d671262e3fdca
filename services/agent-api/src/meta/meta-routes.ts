import { getHealth, getInfo, getMetrics, getRoot } from '@runyard/contracts';
import { answerHealth, ok, type ReadinessChecks, type ServiceContext } from '@runyard/service-kit';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { Config } from '../config.ts';
import { serverInfo } from './info.ts';
import { metricsAsJson } from './metrics-json.ts';

export interface MetaParts {
  context: ServiceContext;
  config: Config;
  /** Decides whether the server is ready. */
  readiness: ReadinessChecks;
  /** States that are reported besides readiness: some requests fail in them, and the server heals by itself. */
  reports: Record<string, () => string>;
  guard: RouteGuard;
  /** The release of LangGraph of a project in Python; null for others. */
  langgraphPyVersion: string | null;
  /** True when `/info` is for everybody: the platform's callers are not the project's users. */
  isInfoPublic: boolean;
}

const PUBLIC = { access: 'public', permission: undefined, plan: undefined, refusal: undefined } as const;
const OF_SERVER = 'It is about the server, and shows nothing that belongs to anybody.';

/** Serves health, metrics and information about the server. The app makes the OpenAPI document from the operations. */
export function metaRoutes(parts: MetaParts): GuardedOperation[] {
  const { context, config, guard } = parts;
  const info = serverInfo(config, parts.langgraphPyVersion);
  return [
    guard.exempt(parts.isInfoPublic ? { ...getInfo, ...PUBLIC } : getInfo, OF_SERVER, () => ok(info)),
    ...[getHealth, getRoot].map((operation) =>
      guard.exempt(operation, OF_SERVER, ({ query }) => healthOf(parts, isTrueFlag(query.check_db))),
    ),
    guard.exempt(getMetrics, OF_SERVER, async ({ query }) => {
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
