import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from './settings.ts';

/** Creates the sampler of `OTEL_TRACES_SAMPLER`. Those `parentbased_…` do as the trace that a span continues. */
export function createSampler({ sampler, ratio }: Pick<TracingSettings, 'sampler' | 'ratio'>): Sampler {
  const [, parentBased, name] = /^(parentbased_)?(.*)$/.exec(sampler)!;
  const root =
    name === 'always_off'
      ? new AlwaysOffSampler()
      : name === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return parentBased === undefined ? root : new ParentBasedSampler({ root });
}
