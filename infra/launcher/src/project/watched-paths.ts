import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { Project } from '@runyard/project';

/**
 * Returns what a project is loaded from: its folder, those of its graphs and of its `dependencies`, its file of
 * variables, and the packages of its repository that its `node_modules` links to.
 */
export async function watchedPaths(project: Project): Promise<string[]> {
  const { directory, graphs, python, envFile } = project;
  const folders = [
    directory,
    ...graphs.filter(({ file }) => file !== '').map(({ file }) => dirname(file)),
    ...(python?.folders ?? []),
    ...(await linkedPackages(directory)),
  ];
  const outer = folders.filter((folder) => !folders.some((other) => folder.startsWith(other + sep)));
  return [...new Set([...outer, ...(envFile ? [envFile] : [])])];
}

async function linkedPackages(directory: string): Promise<string[]> {
  const manifest = await readFile(join(directory, 'package.json'), 'utf8').catch(() => '{}');
  const found = dependenciesOf(manifest).map((name) =>
    realpath(join(directory, 'node_modules', name)).catch(() => null),
  );
  const folders = (await Promise.all(found)).filter((folder) => folder !== null);
  return folders.filter((folder) => !folder.split(sep).includes('node_modules'));
}

/** An edit may leave the file half written: what it links to is found after the next one. */
function dependenciesOf(manifest: string): string[] {
  try {
    return Object.keys((JSON.parse(manifest) as { dependencies?: object }).dependencies ?? {});
  } catch {
    return [];
  }
}
