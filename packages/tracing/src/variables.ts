import Type, { type Static, type TObject } from 'typebox';

const url = (description: string) => Type.Optional(Type.String({ pattern: '^https?://[^\\s]+$', description }));
const pairs = (description: string) => Type.Optional(Type.String({ description }));
const oneOf = <T extends string[]>(values: readonly [...T], description: string) =>
  Type.Optional(Type.Enum([...values] as T, { description }));

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The variables of OpenTelemetry that services honour. Nothing is traced unless an endpoint or an exporter is set. */
export const tracingVariables = {
  OTEL_SDK_DISABLED: Type.Optional(Type.Boolean({ description: 'No traces, whatever else is set.' })),
  OTEL_TRACES_EXPORTER: oneOf(['otlp', 'none'], '`otlp` without an endpoint sends to http://localhost:4318.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('Base URL of the collector; spans go to `/v1/traces` below it.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url('Full URL for spans, instead of the base URL.'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs('Headers of the requests, as `name=value,name=value`; they may be secrets.'),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs('The same for spans alone; they win.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/protobuf'], 'The one protocol that is spoken.'),
  OTEL_SERVICE_NAME: Type.Optional(Type.String({ minLength: 1, description: 'Default: `runyard-` and the service.' })),
  OTEL_RESOURCE_ATTRIBUTES: pairs('Further attributes of the resource, as `key=value,key=value`.'),
  OTEL_TRACES_SAMPLER: oneOf(SAMPLERS, 'Which traces are recorded; default `parentbased_always_on`.'),
  OTEL_TRACES_SAMPLER_ARG: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'The share of traces that a ratio sampler records.' }),
  ),
  OTEL_BSP_SCHEDULE_DELAY: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Milliseconds between sendings of spans; default 5000.' }),
  ),
  OTEL_BSP_MAX_QUEUE_SIZE: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000, description: 'Spans that wait to be sent; default 2048.' }),
  ),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: Type.Optional(
    Type.Boolean({ description: 'Spans carry prompts, answers, and arguments and results of tools.' }),
  ),
};

export type TracingVariables = Static<TObject<typeof tracingVariables>>;

/** Variables whose values may be credentials; so may a URL with a user in it. */
const SECRET: ReadonlySet<string> = new Set(['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS']);
const URL_OF_USER = /^https?:\/\/[^/?#]*@/i;
/** Each service has a name of its own. */
const OWN: ReadonlySet<string> = new Set(['OTEL_SERVICE_NAME']);

/**
 * Returns the variables with which another process sends its spans where this one does, apart from those that may be
 * credentials.
 */
export function inheritedTracingVariables(
  variables: Record<string, unknown>,
): Record<'env' | 'secrets', Record<string, string>> {
  const env: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  for (const name of Object.keys(tracingVariables)) {
    const value = variables[name];
    if (value === undefined || value === '' || OWN.has(name)) continue;
    const isSecret = SECRET.has(name) || URL_OF_USER.test(String(value));
    (isSecret ? secrets : env)[name] = String(value);
  }
  return { env, secrets };
}
