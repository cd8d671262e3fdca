import type { TestProject } from 'vitest/node';
import { startBundleServer } from './bundle-server.ts';
import { bundlesVariable } from './bundled-entry.ts';

/**
 * Runs once before all test files. Services are bundled when a test first starts one; test processes inherit the
 * address of the bundles.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const bundles = await startBundleServer();
  process.env[bundlesVariable] = bundles.url;
  project.onTestsRerun(() => bundles.forget());
  return () => bundles.close();
}
