import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the bundles of this test run are to be had; set by the global setup. */
export const bundlesVariable = 'RUNYARD_TEST_BUNDLES_URL';

const services = fileURLToPath(new URL('../../../../services/', import.meta.url));

/**
 * The file to run for a service's `src/main.ts`: its bundle, which starts in a fraction of the time that loading each
 * source file takes. Any other file, and all without a bundle server, are run as they are.
 */
export async function bundledEntry(entry: string): Promise<string> {
  const address = process.env[bundlesVariable];
  const folder = dirname(dirname(entry));
  const isService = entry.endsWith('/src/main.ts') && join(dirname(folder), '/') === services;
  if (!address || !isService || !existsSync(join(folder, 'package.json'))) return entry;
  const answer = await fetch(`${address}/${folder.slice(services.length)}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
