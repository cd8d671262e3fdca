import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackageTool } from './package-tools.ts';

/** Where the programs are, from the folder that a package manager was fetched into. */
export const PROGRAMS_FOLDER = 'node_modules/.bin';

/** Fetches a package manager into the current folder, for a shell. None of its scripts runs but the one it needs. */
export function fetchCommand(tool: PackageTool): string {
  const install = `npm install --no-audit --no-fund --no-save --ignore-scripts ${tool.package}`;
  // Its script puts the program for this machine in its place; npm runs scripts only where it is allowed to.
  return tool.name === 'bun' ? `${install} && node node_modules/bun/install.js` : install;
}

/**
 * The folder with the programs of a package manager, fetched with npm when it is not there yet. Made aside and renamed: what
 * is there is whole.
 *
 * @param run runs a command in a folder, and throws when it fails
 */
export async function fetchTool(
  tool: PackageTool,
  cache: string,
  run: (command: string, cwd: string) => Promise<void>,
): Promise<string> {
  const place = join(cache, 'tools', tool.package.replaceAll('/', '+'));
  const programs = join(place, PROGRAMS_FOLDER);
  if (await exists(programs)) return programs;
  const aside = join(cache, 'tools', randomUUID());
  await mkdir(aside, { recursive: true });
  try {
    // A package of its own, or npm would look for one above. Its option for that would take the machine's own npmrc from it.
    await writeFile(join(aside, 'package.json'), '{ "private": true }');
    await run(fetchCommand(tool), aside);
    // Another one may have been faster.
    await rename(aside, place).catch(async (error: unknown) => {
      if (!(await exists(programs))) throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return programs;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
