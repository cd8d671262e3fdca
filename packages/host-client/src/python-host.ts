import { delimiter, join } from 'node:path';
import { findPythonEnvironment, pythonOf } from '@runyard/project';
import { childFiles } from './child-files.ts';
import { type HostCommand, PULSE_FD } from './host-command.ts';

/**
 * Finds the Python of a project: that of the environment beside its file, else the one that is active, else `python3`.
 * It has the packages of the project.
 *
 * @param environment the one that the project's code gets
 * @param memoryLimitMb the resident memory above which the host ends; default: none
 * @throws GraphLoadError when the Python of the environment beside its file is not on this machine
 */
export async function pythonHost(
  directory: string,
  environment: Record<string, string>,
  memoryLimitMb?: number,
): Promise<HostCommand> {
  const { VIRTUAL_ENV: active, PATH: path } = environment;
  const place = await findPythonEnvironment(directory, active);
  return {
    command: place === undefined ? 'python3' : pythonOf(place),
    // Neither the folder of the project comes before what is installed, nor does the locale decide about text.
    args: [
      ...['-P', '-X', 'utf8', '-m', 'runyard_graph_host', '--pulse-fd', String(PULSE_FD)],
      ...(memoryLimitMb === undefined ? [] : ['--memory-mb', String(memoryLimitMb)]),
    ],
    hasPulse: true,
    environment: {
      // Programs that the project starts are those of its environment.
      ...(place !== undefined && {
        VIRTUAL_ENV: place,
        PATH: [join(place, 'bin'), ...(path ? [path] : [])].join(delimiter),
      }),
      PYTHONPATH: [childFiles.python, ...(environment.PYTHONPATH ? [environment.PYTHONPATH] : [])].join(':'),
      PYTHONUNBUFFERED: '1',
      // The folder of the project may be closed to writing, and is the author's.
      PYTHONDONTWRITEBYTECODE: '1',
    },
    outOfMemory: /^MemoryError/,
  };
}
