import { runService } from '@runyard/service-kit';
import { runWorker } from './service.ts';

await runService(runWorker());
