import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BundleAnswer, type BundleRequest, UI_BYTES_MAX, type UiFile } from '@runyard/host-protocol/graph-process';

type Bundler = typeof import('@langchain/langgraph-ui');

/** Bundles the components of every agent. Reports the faults of all of them together. */
export async function bundle({ directory, files, shared }: BundleRequest): Promise<BundleAnswer> {
  const output = await mkdtemp(join(tmpdir(), 'runyard-ui-'));
  try {
    const url = bundlerOf(directory);
    await offerTailwind(url, join(output, 'node_modules'));
    const bundler = (await import(url)) as Bundler;
    let bytesLeft = UI_BYTES_MAX;
    const settled = await Promise.allSettled(
      Object.entries(files).map(async ([agent, file], index): Promise<[string, UiFile[]]> => {
        await refuseUnusable(agent, resolve(directory, file));
        const folder = join(output, String(index));
        await bundler.build({ cwd: directory, defs: { [agent]: file }, config: { shared }, output: folder });
        const built = await filesIn(join(folder, 'public', agent));
        const bytes = built.reduce((sum, each) => sum + each.bytes, 0);
        if (bytes > bytesLeft) throw new Error(`the files of all components take more than ${UI_BYTES_MAX} bytes`);
        bytesLeft -= bytes;
        return [agent, await Promise.all(built.map(readBuilt))];
      }),
    );
    const faults = settled.flatMap((each, index) =>
      each.status === 'rejected' ? [faultOf(Object.entries(files)[index] as [string, string], each.reason)] : [],
    );
    return { bundles: settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])), faults };
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/** Returns where the project's own bundler is, if it has one: its release matches the SDK of its pages. */
function bundlerOf(directory: string): string {
  try {
    return import.meta.resolve('@langchain/langgraph-ui', pathToFileURL(join(directory, 'langgraph.json')).href);
  } catch {
    return import.meta.resolve('@langchain/langgraph-ui');
  }
}

/**
 * Lets style sheets import `tailwindcss` also where the project does not install it: the bundler has a copy. The folder
 * has nothing else, and the copy of the project comes first. Tailwind reads NODE_PATH when it is loaded.
 */
async function offerTailwind(bundlerUrl: string, folder: string): Promise<void> {
  const resolvePath = ['esbuild-plugin-tailwindcss', '@tailwindcss/postcss', 'tailwindcss/package.json'];
  try {
    const found = resolvePath.reduce((from, name) => createRequire(from).resolve(name), fileURLToPath(bundlerUrl));
    await mkdir(folder);
    await symlink(dirname(found), join(folder, 'tailwindcss'), 'junction');
    process.env.NODE_PATH ??= folder;
  } catch (error) {
    console.warn(`Tailwind of the bundler is not found: ${(error as Error).message}`);
  }
}

async function refuseUnusable(agent: string, file: string): Promise<void> {
  if (basename(agent) !== agent || agent === '.' || agent === '..') throw new Error('the name is not one of a graph');
  if (!(await stat(file).catch(() => null))?.isFile()) throw new Error('there is no such file');
}

async function filesIn(folder: string): Promise<{ path: string; bytes: number }[]> {
  const paths = (await readdir(folder)).map((name) => join(folder, name));
  return Promise.all(paths.map(async (path) => ({ path, bytes: (await stat(path)).size })));
}

async function readBuilt({ path }: { path: string }): Promise<UiFile> {
  return { basename: basename(path), contents: await readFile(path) };
}

/** The form in which esbuild reports what it could not build. */
interface BuildError extends Error {
  errors?: { text: string; location: { file: string; line: number; column: number } | null }[];
}

function faultOf([agent, file]: [string, string], reason: BuildError): string {
  const messages = reason.errors?.map(({ text, location }) =>
    location && !location.file.startsWith('entrypoint')
      ? `${text} (${location.file}:${location.line}:${location.column})`
      : text,
  );
  return `The components of "${agent}", ${file}, cannot be bundled: ${messages?.join('; ') ?? reason.message}.`;
}
