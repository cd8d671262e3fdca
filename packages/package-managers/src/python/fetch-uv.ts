import { fetchOnce } from '../fetch-tool.ts';
import type { Interpreter } from './interpreters.ts';
import { quote } from './shell.ts';

const UV = 'uv==0.13.9';

/**
 * Returns the folder with uv; fetches it with pip when it does not exist yet.
 *
 * @param run runs a command in a folder, and throws when it fails
 */
export async function fetchUv(
  { path }: Interpreter,
  cache: string,
  run: (command: string, cwd: string) => Promise<void>,
): Promise<string> {
  return fetchOnce(cache, { name: UV, programs: 'bin' }, async (folder) => {
    const install = `./bin/python -m pip install --quiet --no-compile ${UV}`;
    await run(`${quote(path)} -m venv . && ${install}`, folder);
  });
}
