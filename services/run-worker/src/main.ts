import { translateVariables } from '@runyard/contracts';
import { runService } from '@runyard/service-kit';
import { configSchema } from './config.ts';
import { run } from './run.ts';

await runService({ name: 'run-worker', schema: configSchema, translate: translateVariables, run });
