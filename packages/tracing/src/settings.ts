import type { TracingVariables } from './variables.ts';

export interface TracingSettings {
  /** The URL that spans are posted to. */
  url: string;
  headers: Record<string, string>;
  serviceName: string | undefined;
  resourceAttributes: Record<string, string>;
  sampler: string;
  /** The share of traces that a ratio sampler records. */
  ratio: number;
  /** Undefined: as the libraries choose. */
  scheduleDelayMs: number | undefined;
  maxQueueSize: number | undefined;
  capturesContent: boolean;
}

const LOCAL_COLLECTOR = 'http://localhost:4318';

/** Returns what the variables ask for; undefined when no traces are to be made. */
export function readTracingSettings(variables: TracingVariables): TracingSettings | undefined {
  const { OTEL_TRACES_EXPORTER: exporter, OTEL_EXPORTER_OTLP_ENDPOINT: base } = variables;
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = variables;
  if (variables.OTEL_SDK_DISABLED || exporter === 'none') return undefined;
  if (base === undefined && own === undefined && exporter === undefined) return undefined;
  return {
    url: own ?? `${(base ?? LOCAL_COLLECTOR).replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    headers: {
      ...parsePairs(variables.OTEL_EXPORTER_OTLP_HEADERS),
      ...parsePairs(variables.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
    },
    serviceName: variables.OTEL_SERVICE_NAME,
    resourceAttributes: parsePairs(variables.OTEL_RESOURCE_ATTRIBUTES),
    sampler: variables.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on',
    ratio: variables.OTEL_TRACES_SAMPLER_ARG ?? 1,
    scheduleDelayMs: variables.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: variables.OTEL_BSP_MAX_QUEUE_SIZE,
    capturesContent: variables.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT ?? false,
  };
}

/** Parses `key=value,key=value`, where values may be percent-encoded. */
function parsePairs(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=');
    return at > 0 ? [[pair.slice(0, at).trim(), decode(pair.slice(at + 1).trim())]] : [];
  });
  return Object.fromEntries(pairs);
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
