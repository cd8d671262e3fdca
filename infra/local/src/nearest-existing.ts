import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Returns the path, or the nearest folder above it that exists. */
export async function nearestExisting(path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  return exists || path === dirname(path) ? path : nearestExisting(dirname(path));
}
