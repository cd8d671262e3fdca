import { runService } from '@runyard/service-kit';
import { agentApi } from './service.ts';

await runService(agentApi());
