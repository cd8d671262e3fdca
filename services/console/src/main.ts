import { runService } from '@runyard/service-kit';
import { service } from './service.ts';

await runService(service);
