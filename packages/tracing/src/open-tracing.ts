import { readTracingSettings } from './settings.ts';
import { TRACING_OFF, type Tracing } from './tracing.ts';
import type { TracingVariables } from './variables.ts';

export interface OpenTracingOptions {
  variables: TracingVariables;
  /** Name of the service, unless the variables give one. */
  serviceName: string;
  /** Attributes of all spans of the process; `OTEL_RESOURCE_ATTRIBUTES` wins. */
  resourceAttributes?: Record<string, string>;
  /** Called when spans could not be sent. They are gone: traces never hold work back. */
  onLost?: (spans: number, error: Error | undefined) => void;
}

/** Opens the export of traces. The libraries for it are loaded only where the variables ask for traces. */
export async function openTracing(options: OpenTracingOptions): Promise<Tracing> {
  const settings = readTracingSettings(options.variables);
  if (settings === undefined) return TRACING_OFF;
  const { SdkTracing } = await import('./sdk-tracing.ts');
  return new SdkTracing(settings, options);
}
