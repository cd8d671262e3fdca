/**
 * Makes a project in a temporary folder: files by name, and this package's `node_modules` unless the project has its
 * own.
 */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const NODE_MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));

/**
 * @returns the folder, with a `langgraph.json` whose one graph is `agent` (`./agent.ts:graph`); it is removed after the
 * test
 */
export async function temporaryProject(files: Record<string, string>, withPackages = true): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'project-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const all: Record<string, string> = {
    'package.json': JSON.stringify({ name: 'temporary', type: 'module' }),
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  if (withPackages) await symlink(NODE_MODULES, join(directory, 'node_modules'));
  return directory;
}
