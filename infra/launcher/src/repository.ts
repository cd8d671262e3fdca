import { resolve } from 'node:path';

/** Returns the root of this checkout or published package: this file, bundled or not, lies three folders below it. */
export function repositoryFolder(): string {
  return resolve(import.meta.dirname, '../../..');
}
