import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the root of this checkout, found from this file, bundled or not. */
export function repositoryFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) {
    if (folder === dirname(folder)) throw new Error('the launcher does not lie inside its repository');
    folder = dirname(folder);
  }
  return folder;
}
