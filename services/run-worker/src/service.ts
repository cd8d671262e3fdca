import { translateVariables } from '@runyard/contracts';
import type { SharedHost } from '@runyard/host-client';
import type { ServiceDefinition } from '@runyard/service-kit';
import { configSchema } from './config.ts';
import { run } from './run.ts';

/** @param shared joins it to a server in the same process */
export function runWorker(shared?: SharedHost): ServiceDefinition<typeof configSchema> {
  return {
    name: 'run-worker',
    schema: configSchema,
    translate: translateVariables,
    run: (config, context) => run(config, context, shared),
  };
}
