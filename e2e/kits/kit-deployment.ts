import { setTimeout as pause } from 'node:timers/promises';
import type { Deployment, Revision } from '@runyard/contracts';
import type { Platform } from '../harness/platform.ts';
import { askPlatform } from './ask-platform.ts';

/** A deployment that a kit has for itself. */
export interface KitDeployment {
  id: string;
  url: string;
  /** Deletes it with its data. */
  remove(): Promise<void>;
}

/**
 * Deploys the project of a folder, and resolves when it answers.
 *
 * @throws if it cannot be deployed
 */
export async function deployForKit(
  platform: Platform,
  projectPath: string,
  secrets: { name: string; value: string }[] = [],
): Promise<KitDeployment> {
  const { id, latest_revision_id } = await askPlatform<Deployment>(platform, 'POST', '/v2/deployments', {
    name: `kit-${crypto.randomUUID()}`,
    source: 'local_directory',
    source_config: { project_path: projectPath, deployment_type: 'dev' },
    source_revision_config: { langgraph_config_path: 'langgraph.json' },
    secrets,
  });
  const remove = async () => void (await askPlatform(platform, 'DELETE', `/v2/deployments/${id}`));
  const url = `${platform.url}/deployments/${id}`;
  try {
    await untilDeployed(platform, `/v2/deployments/${id}/revisions/${latest_revision_id}`);
    // The gateway gets the route a moment later.
    while (!(await fetch(`${url}/ok?check_db=1`)).ok) await pause(50);
  } catch (error) {
    await remove();
    throw error;
  }
  return { id, url, remove };
}

async function untilDeployed(platform: Platform, path: string): Promise<void> {
  for (;;) {
    const { status, status_message } = await askPlatform<Revision>(platform, 'GET', path);
    if (status === 'DEPLOYED') return;
    if (/FAILED|SKIPPED|INTERRUPTED/.test(status)) throw new Error(`The project is ${status}: ${status_message}`);
    await pause(100);
  }
}
