import type { ServiceDefinition } from '@runyard/service-kit';
import { configSchema } from './config.ts';
import { run } from './run.ts';

export const service: ServiceDefinition<typeof configSchema> = { name: 'console', schema: configSchema, run };
