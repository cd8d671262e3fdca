/**
 * The process that bundles a project's user interface components: seconds of work, with plugins that may run code of the
 * project. It answers once; its parent ends it, by going too.
 */
import { bundle } from './bundle.ts';
import type { BundleAnswer, BundleRequest } from './messages.ts';

process.once('disconnect', () => process.exit());
process.once('message', async (request: BundleRequest) => {
  const answer = await bundle(request).catch((error: Error): BundleAnswer => ({ faults: [error.message] }));
  process.send?.(answer);
});
