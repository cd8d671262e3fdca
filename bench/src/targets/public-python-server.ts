import { startPublicPythonServer } from '@runyard/test-kit/python';
import type { StartedTarget } from './target.ts';

/**
 * Starts the public Python server with the project. Like that in JavaScript, it makes nothing durable and authenticates
 * nobody.
 *
 * @param python an interpreter whose environment has it
 */
export async function targetPublicPythonServer(python: string, project: string): Promise<StartedTarget> {
  const { url, pid, stop } = await startPublicPythonServer(python, project);
  return { name: 'langgraph dev', url, headers: {}, observed: [], rootPid: pid, stop };
}
