import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundledEntry } from './bundled-entry.ts';

const service = fileURLToPath(new URL('../../../../services/agent-api/src/main.ts', import.meta.url));
const folder = dirname(await bundledEntry(service));

/**
 * Replaces `child-files.ts` of packages/host-client, see the vitest config. The process that runs a project is started
 * from a service's bundle, like in services, which takes a fraction of the processor time of its sources.
 */
export const childFiles = {
  loader: pathToFileURL(join(folder, 'graph-host-loader.js')).href,
  entry: join(folder, 'graph-host-child.js'),
  python: join(folder, 'python'),
};
