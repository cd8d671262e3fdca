import { type Interpreter, ProjectError } from '@runyard/package-managers';
import type { BuildCommands } from '../commands/build-commands.ts';

/**
 * Has uv fetch a Python, and returns it.
 *
 * @param version without a patch number
 * @param place the folder where Pythons are kept, and that of `langgraph.json`
 * @throws BuildError when it cannot be fetched
 */
export async function downloadPython(
  version: string,
  { commands, folder, directory }: { commands: BuildCommands; folder: string; directory: string },
): Promise<Interpreter> {
  commands.set({ UV_PYTHON_DOWNLOADS: 'manual', UV_PYTHON_INSTALL_DIR: folder });
  await commands.run(`uv python install --no-bin ${version}`, directory);
  const [path] = await commands.ask(`uv python find --managed-python --no-project ${version}`, directory);
  if (path === undefined) throw new ProjectError(`uv has no Python ${version}.`);
  return { version, path };
}
