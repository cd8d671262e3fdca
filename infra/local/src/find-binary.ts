import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Returns the full path of a program on the PATH, or null. */
export async function findOnPath(program: string, environment: NodeJS.ProcessEnv): Promise<string | null> {
  for (const folder of (environment.PATH ?? '').split(delimiter)) {
    if (folder && (await isExecutable(join(folder, program)))) return join(folder, program);
  }
  return null;
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Returns subfolders of a folder, the highest version number first; none when the folder does not exist. */
export async function listVersionFolders(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.sort((a, b) => Number.parseFloat(b) - Number.parseFloat(a)).map((name) => join(folder, name));
}
