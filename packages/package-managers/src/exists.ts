import { access } from 'node:fs/promises';

/** Returns whether there is a file or folder. Links are followed. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
