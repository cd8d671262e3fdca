import { join } from 'node:path';
import { INCOMING } from '@runyard/object-storage';

/** Returns the folders of temporary files: archives, repositories, logins of the engine, objects. Some may not exist. */
export function temporaryFolders(dataDir: string): string[] {
  return ['uploads', 'archives', 'git', 'logins', join('objects', INCOMING)].map((name) => join(dataDir, name));
}
