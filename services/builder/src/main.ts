import { runService } from '@runyard/service-kit';
import { configSchema } from './config.ts';
import { run } from './run.ts';

await runService({ name: 'builder', schema: configSchema, run });
