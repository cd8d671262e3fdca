import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the bundles of this test run are to be had; set by the global setup. */
export const bundlesVariable = 'RUNYARD_TEST_BUNDLES_URL';

const services = fileURLToPath(new URL('../../../../services/', import.meta.url));

/**
 * The file to run for a service's `src/main.ts`, or another entry of its build: its bundle, which starts in a fraction of the
 * time that loading each source file takes. Any other file, and all without a bundle server, are run as they are.
 */
export async function bundledEntry(entry: string): Promise<string> {
  const address = process.env[bundlesVariable];
  const [service = '', ...path] = relative(services, entry).split('/');
  const name = nameInBundle(join(services, service), path.join('/'));
  if (!address || name === undefined) return entry;
  const answer = await fetch(`${address}/${service}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return join(dirname(text), `${name}.js`);
}

/** Undefined for what is not bundled. */
function nameInBundle(folder: string, source: string): string | undefined {
  if (!source.endsWith('/main.ts') || !existsSync(join(folder, 'package.json'))) return undefined;
  if (source === 'src/main.ts') return 'main';
  const config = join(folder, 'build.config.json');
  const { entries = {} } = existsSync(config) ? JSON.parse(readFileSync(config, 'utf8')) : {};
  return Object.keys(entries).find((name) => entries[name] === source);
}
