import { startPublicServer } from '@runyard/test-kit';
import type { StartedTarget } from './target.ts';

/**
 * Starts the public in-memory server on the same project. It makes nothing durable and authenticates nobody, so it
 * shows what the same graphs cost without those promises.
 *
 * @param folder the folder in whose `node_modules` it is installed
 */
export async function targetPublicServer(options: { folder: string; project: string }): Promise<StartedTarget> {
  const { url, pid, stop } = await startPublicServer(options);
  return { name: 'langgraph-api', url, headers: {}, observed: [], rootPid: pid, stop };
}
