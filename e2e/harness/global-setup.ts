import type { TestProject } from 'vitest/node';
import { startPlatform } from './platform.ts';
import { pythonWithPackages } from './python.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    platform: {
      url: string;
      apiKey: string;
      deploymentUrl: string;
      /** The root of the deployment's own host. */
      hostUrl: string;
      deploymentId: string;
      dataDir: string;
    };
  }
}

/** One platform for all test files that do not need one of their own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [platform] = await Promise.all([
    startPlatform(),
    // No test's time, and made once. Who needs it and has it not is told why.
    pythonWithPackages().catch(() => undefined),
  ]);
  project.provide('platform', {
    url: platform.url,
    apiKey: platform.apiKey,
    deploymentUrl: platform.deploymentUrl,
    hostUrl: platform.deployments[0]?.host_url ?? '',
    deploymentId: platform.deployments[0]?.id ?? '',
    dataDir: platform.dataDir,
  });
  return async () => {
    await platform.stop();
    await platform.remove();
  };
}
