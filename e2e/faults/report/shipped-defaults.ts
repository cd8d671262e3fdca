import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const PAGES = path.resolve(import.meta.dirname, '../../../docs/services');
const ROW = /^\| `([A-Z][A-Z0-9_]+)` \| `([^`]*)` \|/gm;

/**
 * Returns the default of each setting that a service's page names. A test compares the pages with the services'
 * configuration.
 */
export function readShippedDefaults(): ReadonlyMap<string, string> {
  const defaults = new Map<string, string>();
  for (const file of readdirSync(PAGES, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.md')) continue;
    for (const [, name, value] of readFileSync(path.join(PAGES, file), 'utf8').matchAll(ROW))
      defaults.set(name!, value!);
  }
  return defaults;
}
