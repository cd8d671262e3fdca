import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { childFiles } from './child-files.ts';
import type { HostCommand } from './host-command.ts';

/**
 * Finds the Python of a project: that of the environment beside its file, else the one that is active, else `python3`.
 * It has the packages of the project.
 *
 * @param environment the one that the project's code gets
 */
export async function pythonHost(directory: string, environment: Record<string, string>): Promise<HostCommand> {
  const { VIRTUAL_ENV: active } = environment;
  const places = [join(directory, '.venv'), ...(active ? [active] : [])].map((folder) => join(folder, 'bin/python'));
  const found = await Promise.all(places.map(isProgram));
  const place = found.indexOf(true);
  return {
    command: places[place] ?? 'python3',
    // Neither the folder of the project comes before what is installed, nor does the locale decide about text.
    args: ['-P', '-X', 'utf8', '-m', 'runyard_graph_host'],
    environment: {
      PYTHONPATH: [childFiles.python, ...(environment.PYTHONPATH ? [environment.PYTHONPATH] : [])].join(':'),
      PYTHONUNBUFFERED: '1',
      // The folder of the project may be closed to writing, and is the author's.
      PYTHONDONTWRITEBYTECODE: '1',
    },
    outOfMemory: /^MemoryError/,
  };
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
