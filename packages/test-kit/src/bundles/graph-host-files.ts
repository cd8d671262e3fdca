import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundledEntry } from './bundled-entry.ts';

const service = fileURLToPath(new URL('../../../../services/agent-api/src/main.ts', import.meta.url));
const folder = dirname(await bundledEntry(service));

/**
 * Stands in for `child-files.ts` of packages/graph-host, see the vitest config: the process that runs a project is started from
 * a service's bundle, as services start it, which takes a fraction of the processor time that its sources take.
 */
export const childFiles = {
  loader: pathToFileURL(join(folder, 'graph-host-loader.js')).href,
  entry: join(folder, 'graph-host-child.js'),
};
