import type { TestProject } from 'vitest/node';
import { startPlatform } from './platform.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    platform: { url: string; apiKey: string; deploymentUrl: string; deploymentId: string; dataDir: string };
  }
}

/** One platform for all test files that do not need one of their own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const platform = await startPlatform();
  project.provide('platform', {
    url: platform.url,
    apiKey: platform.apiKey,
    deploymentUrl: platform.deploymentUrl,
    deploymentId: platform.deployments[0]?.id ?? '',
    dataDir: platform.dataDir,
  });
  return async () => {
    await platform.stop();
    await platform.remove();
  };
}
