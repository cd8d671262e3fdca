import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from './exists.ts';
import type { PackageTool } from './package-tools.ts';

/** Path of the programs in the folder that a package manager was fetched into. */
export const PROGRAMS_FOLDER = 'node_modules/.bin';

/**
 * Returns the shell command that fetches a package manager into the current folder. It runs only the one script that is
 * needed.
 */
export function fetchCommand(tool: PackageTool): string {
  const install = `npm install --no-audit --no-fund --no-save --ignore-scripts ${tool.package}`;
  // Its script installs the program for this machine; npm runs scripts only where that is permitted.
  return tool.name === 'bun' ? `${install} && node node_modules/bun/install.js` : install;
}

/**
 * Returns the folder with the programs of a package manager; fetches it with npm when it does not exist yet.
 *
 * @param run runs a command in a folder, and throws when it fails
 */
export async function fetchTool(
  tool: PackageTool,
  cache: string,
  run: (command: string, cwd: string) => Promise<void>,
): Promise<string> {
  return fetchOnce(cache, { name: tool.package, programs: PROGRAMS_FOLDER }, async (folder) => {
    // The folder has its own package, because npm would use one above otherwise. npm's option for that would ignore the
    // machine's npmrc.
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    await run(fetchCommand(tool), folder);
  });
}

/**
 * Returns the folder with the programs of a tool. It is fetched under another name, and the folder then renamed, so
 * that an existing one is complete.
 */
export async function fetchOnce(
  cache: string,
  { name, programs: path }: { name: string; programs: string },
  fetch: (folder: string) => Promise<void>,
): Promise<string> {
  const place = join(cache, 'tools', name.replaceAll('/', '+'));
  const programs = join(place, path);
  if (await exists(programs)) return programs;
  const aside = join(cache, 'tools', randomUUID());
  await mkdir(aside, { recursive: true });
  try {
    await fetch(aside);
    // Another process may have been faster.
    await rename(aside, place).catch(async (error: unknown) => {
      if (!(await exists(programs))) throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return programs;
}
