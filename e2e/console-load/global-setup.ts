import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPlatform } from '../harness/platform.ts';

/** Starts a platform with graphs that do a lot. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const platform = await startPlatform({ project: join(import.meta.dirname, 'project') });
  const [deployment] = platform.deployments;
  project.provide('platform', {
    url: platform.url,
    apiKey: platform.apiKey,
    deploymentUrl: platform.deploymentUrl,
    hostUrl: deployment!.host_url,
    deploymentId: deployment!.id,
    dataDir: platform.dataDir,
    consoleUrl: platform.consoleUrl,
    consoleSignInUrl: platform.consoleSignInUrl,
    output: platform.output(),
    collectorUrl: '',
  });
  return async () => {
    await platform.stop();
    await platform.remove();
  };
}
