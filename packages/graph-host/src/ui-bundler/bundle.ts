import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BundleAnswer, BundleRequest, UiFile } from './messages.ts';

type Bundler = typeof import('@langchain/langgraph-ui');

/** Bundles the components of every agent. Reports the faults of all of them together. */
export async function bundle({ directory, files, shared }: BundleRequest): Promise<BundleAnswer> {
  const bundler = await bundlerOf(directory);
  const output = await mkdtemp(join(tmpdir(), 'runyard-ui-'));
  try {
    const settled = await Promise.allSettled(
      Object.entries(files).map(async ([agent, file], index): Promise<[string, UiFile[]]> => {
        await refuseUnusable(agent, resolve(directory, file));
        const folder = join(output, String(index));
        await bundler.build({ cwd: directory, defs: { [agent]: file }, config: { shared }, output: folder });
        return [agent, await filesIn(join(folder, 'public', agent))];
      }),
    );
    const faults = settled.flatMap((each, index) =>
      each.status === 'rejected' ? [faultOf(Object.entries(files)[index] as [string, string], each.reason)] : [],
    );
    if (faults.length > 0) return { faults };
    return { bundles: settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])) };
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/** Imports the project's own bundler if it has one: its release matches the SDK of its pages. */
async function bundlerOf(directory: string): Promise<Bundler> {
  let url: string;
  try {
    url = import.meta.resolve('@langchain/langgraph-ui', pathToFileURL(join(directory, 'langgraph.json')).href);
  } catch {
    return import('@langchain/langgraph-ui');
  }
  return (await import(url)) as Bundler;
}

async function refuseUnusable(agent: string, file: string): Promise<void> {
  if (basename(agent) !== agent || agent === '.' || agent === '..') throw new Error('the name is not one of a graph');
  if (!(await stat(file).catch(() => null))?.isFile()) throw new Error('there is no such file');
}

async function filesIn(folder: string): Promise<UiFile[]> {
  const names = await readdir(folder);
  return Promise.all(names.map(async (name) => ({ basename: name, contents: await readFile(join(folder, name)) })));
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
