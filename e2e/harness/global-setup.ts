import { TraceCollector } from '@runyard/test-kit';
import { preparePython } from '@runyard/test-kit/python';
import type { TestProject } from 'vitest/node';
import { startPlatform } from './platform.ts';
import { CLIENT_REQUIREMENTS } from './python.ts';

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
      /** Address of the console for browsers of this machine. */
      consoleUrl: string;
      /** A link that signs one browser in as an administrator, once: for one test file alone. */
      consoleSignInUrl: string;
      /** The output of the start. */
      output: string;
      /** Base URL of the collector that gets the traces which a request asks to be sampled. */
      collectorUrl: string;
    };
  }
}

/** Starts one platform for all test files that do not need one of their own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const collector = await new TraceCollector().open();
  const [platform] = await Promise.all([
    // The log has all that a service can log: no secret may be in it. One test fails to authenticate more often than
    // the limit of an address.
    startPlatform({
      kafka: true,
      env: {
        LOG_LEVEL: 'debug',
        RATE_LIMIT_FAILURES_RPS: '0',
        ...collector.variables,
        OTEL_TRACES_SAMPLER: 'parentbased_always_off',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
      },
    }),
    // It is created once, and counts for no test's time. A test that needs it reports a failure.
    preparePython(CLIENT_REQUIREMENTS).catch(() => undefined),
  ]);
  project.provide('platform', {
    url: platform.url,
    apiKey: platform.apiKey,
    deploymentUrl: platform.deploymentUrl,
    hostUrl: platform.deployments[0]?.host_url ?? '',
    deploymentId: platform.deployments[0]?.id ?? '',
    dataDir: platform.dataDir,
    consoleUrl: platform.consoleUrl,
    consoleSignInUrl: platform.consoleSignInUrl,
    output: platform.output(),
    collectorUrl: collector.url,
  });
  return async () => {
    await platform.stop();
    await platform.remove();
    await collector.close();
  };
}
