import { buildOpenApi, defineOperation, ErrorResponse } from '@runyard/contracts';
import Type from 'typebox';
import type { AppOptions } from './app.ts';
import { type BoundOperation, bind } from './bind.ts';
import { describeSecurity } from './describe-security.ts';
import { DOCUMENTATION_STYLE, renderDocumentation } from './documentation.ts';
import { answerHealth } from './health.ts';
import { mergeOpenApi } from './merge-openapi.ts';
import { page } from './page.ts';
import { ok, type Reply } from './reply.ts';

const healthOperation = defineOperation({
  operationId: 'health',
  method: 'get',
  path: '/ok',
  summary: 'Health check: alive, or with `check_db=1` ready.',
  tags: ['system'],
  access: 'public',
  query: Type.Object({ check_db: Type.Optional(Type.String()) }),
  responses: {
    200: {
      description: 'Healthy.',
      schema: Type.Object({ ok: Type.Boolean(), services: Type.Record(Type.String(), Type.Unknown()) }),
      example: { ok: true, services: {} },
    },
    503: { description: 'Not ready.', schema: ErrorResponse },
  },
});

const metricsOperation = defineOperation({
  operationId: 'metrics',
  method: 'get',
  path: '/metrics',
  summary: 'Metrics in Prometheus text format, or as JSON.',
  tags: ['system'],
  access: 'public',
  query: Type.Object({
    format: Type.Optional(Type.Union([Type.Literal('prometheus'), Type.Literal('json')], { default: 'prometheus' })),
  }),
  responses: {
    200: {
      description: 'The metrics.',
      contentType: 'text/plain',
      schema: Type.String(),
      otherContentTypes: { 'application/json': Type.Array(Type.Unknown()) },
    },
  },
});

const openApiOperation = defineOperation({
  operationId: 'openapi',
  method: 'get',
  path: '/openapi.json',
  summary: 'This description.',
  tags: ['system'],
  access: 'public',
  responses: { 200: { description: 'An OpenAPI document.', schema: Type.Record(Type.String(), Type.Unknown()) } },
});

const docsOperation = defineOperation({
  operationId: 'docs',
  method: 'get',
  path: '/docs',
  summary: 'This description, to be read.',
  tags: ['system'],
  access: 'public',
  responses: { 200: { description: 'A page.', contentType: 'text/html', schema: Type.String() } },
});

/**
 * Returns the operations that every service has. An operation of the service with the same method and path replaces
 * one.
 */
export function builtInOperations(options: AppOptions): BoundOperation[] {
  const { context, readiness = {} } = options;
  const own = new Set(options.operations.map(({ operation }) => `${operation.method} ${operation.path}`));
  const all = [
    bind(healthOperation, async ({ query }) => answerHealth(context, readiness, isSet(query.check_db))),
    bind(metricsOperation, async ({ query, raw }) => {
      await options.metricsGuard?.authenticate(raw);
      return metricsReply(options, query.format ?? 'prometheus');
    }),
    ...documentationOf(options),
  ];
  return all.filter(({ operation }) => !own.has(`${operation.method} ${operation.path}`));
}

async function metricsReply({ context }: AppOptions, format: 'prometheus' | 'json'): Promise<Reply> {
  if (format === 'json') return ok(await context.metrics.values());
  return ok(await context.metrics.text(), { 'content-type': context.metrics.registry.contentType });
}

/** The documents are made when somebody asks for them first: at a start they would be a tenth of all its work. */
function documentationOf(options: AppOptions): BoundOperation[] {
  const { openApi } = options;
  if (!openApi) return [];
  const document = once(() => describeApp(options, openApi));
  const json = once(() => JSON.stringify(document()));
  const html = once(() => renderDocumentation(document()));
  return [
    bind(openApiOperation, () =>
      ok(json(), { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' }),
    ),
    bind(docsOperation, () => page({ html: html(), style: DOCUMENTATION_STYLE })),
  ];
}

function describeApp(options: AppOptions, info: NonNullable<AppOptions['openApi']>) {
  const own = options.operations.map(({ operation }) => operation).filter(({ access }) => access !== 'internal');
  const operations = [healthOperation, metricsOperation, openApiOperation, docsOperation, ...own];
  const shown = operations.filter((operation) => !options.isExcluded?.(operation)).filter(isUniqueByRoute);
  const merged = mergeOpenApi(buildOpenApi(shown, info), options.additionalOpenApi ?? {});
  return describeSecurity(merged, options.security ?? {});
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function isUniqueByRoute(
  operation: { method: string; path: string },
  index: number,
  all: { method: string; path: string }[],
): boolean {
  return all.findLastIndex((other) => other.method === operation.method && other.path === operation.path) === index;
}

function isSet(flag: string | undefined): boolean {
  return flag !== undefined && flag !== '' && flag !== '0' && flag !== 'false';
}
