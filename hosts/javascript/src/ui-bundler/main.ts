/**
 * Bundles a project's user interface components in a separate process: it takes seconds, with plugins that may run code
 * of the project. It answers once. When its parent exits, it ends too.
 */
import type { BundleAnswer, BundleRequest } from '@runyard/host-protocol/graph-process';
import { bundle } from './bundle.ts';

process.once('disconnect', () => process.exit());
process.once('message', async (request: BundleRequest) => {
  const answer = await bundle(request).catch(
    (error: Error): BundleAnswer => ({ bundles: [], faults: [error.message] }),
  );
  process.send?.(answer);
});
