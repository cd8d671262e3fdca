import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Project, ProjectUi } from '@runyard/project';

/** The places that a project is loaded from. */
export interface Sources {
  /** Without links, and none within another, unless code lies in a folder that is left out there. */
  folders: string[];
  /** The file of variables, which need not exist. */
  envFile: string | null;
}

/** Folders that nobody edits, beside those whose name begins with a dot. */
const LEFT_OUT = new Set(['node_modules', '__pycache__', 'venv', 'site-packages']);

/** Returns whether a folder within a project's has nothing that anybody edits. */
export function isLeftOut(folder: string): boolean {
  const name = basename(folder);
  return name.startsWith('.') || LEFT_OUT.has(name);
}

/**
 * Finds what a project is loaded from: its folder, those of the files that `langgraph.json` names, those of its
 * `dependencies`, and the packages of its repository that its `node_modules` links to.
 */
export async function findSources(project: Project): Promise<Sources> {
  const { directory, graphs, auth, app, encryption, ui, python, envFile, missingEnvFile } = project;
  const files = [...graphs, auth, app, encryption].flatMap((each) => (each?.file ? [each.file] : []));
  const folders = await Promise.all(
    [
      directory,
      ...[...files, ...filesOf(ui, directory)].map((file) => dirname(file)),
      ...(python?.folders ?? []),
      ...(await linkedPackages(directory)),
    ].map((folder) => realpath(folder).catch(() => folder)),
  );
  return {
    folders: [...new Set(folders)].filter((folder) => !folders.some((outer) => isReached(folder, outer))),
    envFile: envFile ?? (missingEnvFile === null ? null : resolve(directory, missingEnvFile)),
  };
}

/** Returns whether a folder is met on the way through another one. */
function isReached(folder: string, outer: string): boolean {
  const way = relative(outer, folder);
  return way !== '' && !way.startsWith('..') && !way.split(sep).some(isLeftOut);
}

function filesOf(ui: ProjectUi | null, directory: string): string[] {
  return Object.values(ui?.files ?? {}).map((file) => resolve(directory, file));
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
