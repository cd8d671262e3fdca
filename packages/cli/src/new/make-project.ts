import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { quote } from '@runyard/package-managers';
import { CliError, ExitCode, reasonOf } from '../cli-error.ts';
import { toDeploymentName } from '../project/deployment-name.ts';
import { foldersOf, type Language, projectFileName, type Template } from './templates.ts';

/** The longest name that npm takes. */
const NAME_MAX = 214;
/** A repository that was made before the project is no reason against it. */
const MAY_BE_THERE: ReadonlySet<string> = new Set(['.git']);

/**
 * Writes a project into a folder that is absent or empty. It is written aside and moved into its place, so that a
 * failure or an interruption leaves nothing of it.
 *
 * @throws CliError when the folder has files, or cannot be written
 */
export async function makeProject(
  folder: string,
  template: Template,
  language: Language,
  interrupted: AbortSignal,
): Promise<void> {
  const files = new Map<string, string>();
  for (const source of foldersOf(template, language)) await readFiles(source, '', files);
  await requireEmpty(folder);
  const aside = join(folder, `.runyard-new-${randomUUID()}`);
  const moved: string[] = [];
  let firstMade: string | undefined;
  try {
    firstMade = await mkdir(folder, { recursive: true });
    await mkdir(aside);
    for (const [path, text] of files) {
      interrupted.throwIfAborted();
      await mkdir(dirname(join(aside, path)), { recursive: true });
      await writeFile(join(aside, path), fillIn(text, folder));
    }
    // Somebody else may have written there meanwhile, and a file is moved over another without a question.
    await requireEmpty(folder, basename(aside));
    for (const name of await readdir(aside)) {
      await rename(join(aside, name), join(folder, name));
      moved.push(join(folder, name));
    }
    await rmdir(aside);
  } catch (error) {
    for (const path of [aside, ...moved]) await rm(path, { recursive: true, force: true });
    if (firstMade !== undefined) await removeEmptyFolders(folder, firstMade);
    if (error instanceof CliError) throw error;
    interrupted.throwIfAborted();
    throw new CliError(`${folder} cannot be written: ${reasonOf(error)}.`, ExitCode.failed, { cause: error });
  }
}

/** Removes the folder and those above it up to `last`, as far as they are empty. */
async function removeEmptyFolders(folder: string, last: string): Promise<void> {
  for (let path = folder; ; path = dirname(path)) {
    const isRemoved = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (!isRemoved || path === last) return;
  }
}

/** @throws CliError when the folder has files, or is none */
export async function requireEmpty(folder: string, except?: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new CliError(`${folder} cannot be used: ${reasonOf(error)}.`, ExitCode.usage, { cause: error });
  });
  const inTheWay = names.find((name) => name !== except && !MAY_BE_THERE.has(name));
  if (inTheWay === undefined) return;
  throw new CliError(
    `${folder} is not empty (${quote(inTheWay)} is in it): name a folder that does not exist yet, or an empty one.`,
    ExitCode.usage,
  );
}

/** Adds the texts of a folder, by their paths in the project. */
async function readFiles(folder: string, inside: string, files: Map<string, string>): Promise<void> {
  for (const entry of await readdir(join(folder, inside), { withFileTypes: true })) {
    const path = join(inside, entry.name);
    if (entry.isDirectory()) await readFiles(folder, path, files);
    else files.set(join(inside, projectFileName(entry.name)), await readFile(join(folder, path), 'utf8'));
  }
}

/** Puts the names of the project into a file. */
function fillIn(text: string, folder: string): string {
  const names: Record<string, string> = {
    name: toDeploymentName(basename(folder)).slice(0, NAME_MAX),
    folder: quote(basename(folder)),
  };
  return text.replace(/\{\{(\w+)\}\}/g, (all, name: string) => names[name] ?? all);
}
