import { agentApi } from '@runyard/agent-api/service';
import { SharedHost } from '@runyard/host-client';
import { runWorker } from '@runyard/run-worker/service';
import { runServices } from '@runyard/service-kit';

/**
 * One graph host is for both: a laptop has a process less of the project's code, which is all that its deployments run
 * for. The worker ends first, so that clients of its last runs are answered.
 */
const shared = new SharedHost();
await runServices([[runWorker(shared)], [agentApi(shared)]]);
