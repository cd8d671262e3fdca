import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Address of this test run's bundles; set by the global setup. */
export const bundlesVariable = 'RUNYARD_TEST_BUNDLES_URL';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));

/**
 * Returns the file to run for a source file of this repository: its bundle, which starts in a fraction of the time that
 * loading each source file takes. Any other file, and all without a bundle server, are run unbundled.
 */
export async function bundledEntry(entry: string): Promise<string> {
  const address = process.env[bundlesVariable];
  const path = relative(repository, entry);
  if (!address || path.startsWith('..') || !path.endsWith('.ts')) return entry;
  const answer = await fetch(`${address}/${path}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
