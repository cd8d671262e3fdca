import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { ProjectExport } from '@runyard/host-protocol';
import { languageOf, type ProjectLanguage } from './project-source.ts';
import type { Project } from './read-project.ts';
import { describeTooOld } from './supported-releases.ts';

const LANGGRAPH = '@langchain/langgraph';
const NAMES: Record<ProjectLanguage, string> = { javascript: 'JavaScript', python: 'Python' };

/** Returns the release of a package that will be installed for the files of a folder; undefined where that is not sure. */
export type FindRelease = (name: string, folder: string) => Promise<string | undefined>;

/**
 * Returns one sentence for each thing that will keep a project from starting and that shows without running its code:
 * two languages, a missing file, a LangGraph for JavaScript that is too old. Packages need not be installed yet.
 */
export async function findFaults(project: Project, findRelease: FindRelease): Promise<string[]> {
  const { directory, language } = project;
  const named: [key: string, source: ProjectExport | null][] = [
    ...project.graphs.map((graph): [string, ProjectExport] => [`graphs.${graph.graphId}`, graph]),
    ['auth.path', project.auth],
    ['encryption.path', project.encryption],
    ['http.app', project.app],
  ];
  const faults = named.map(async ([key, source]) => {
    if (source === null) return undefined;
    const shown = `langgraph.json: "${key}" names ${source.module ?? relative(directory, source.file)}`;
    if (languageOf(source) !== language) {
      return `${shown}, and the graphs are in ${NAMES[language]}: a project is in one language.`;
    }
    // Python finds a module along its own path.
    const isThere = source.module !== undefined || (await stat(source.file).catch(() => null))?.isFile();
    return isThere ? undefined : `${shown}, which does not exist.`;
  });
  const found = (await Promise.all(faults)).filter((fault) => fault !== undefined);
  if (language === 'python') return found;
  // One file of each folder: its packages are the same for all files.
  const files = new Map(project.graphs.map(({ file }) => [dirname(file), file])).values();
  const outdated = await Promise.all([...files].map((file) => describeTooOldFor(file, findRelease)));
  return [...found, ...new Set(outdated.filter((fault) => fault !== undefined))];
}

/** Returns the sentence about the LangGraph that this file will import: what will be installed, else the installed one. */
async function describeTooOldFor(file: string, findRelease: FindRelease): Promise<string | undefined> {
  const version = (await findRelease(LANGGRAPH, dirname(file))) ?? (await findInstalled(dirname(file)));
  return version && describeTooOld(LANGGRAPH, version, file);
}

async function findInstalled(start: string): Promise<string | undefined> {
  for (let folder = start; ; folder = dirname(folder)) {
    const text = await readFile(join(folder, 'node_modules', LANGGRAPH, 'package.json'), 'utf8').catch(() => null);
    const version = text === null ? undefined : versionIn(text);
    if (version !== undefined || folder === dirname(folder)) return version;
  }
}

function versionIn(manifest: string): string | undefined {
  try {
    const { version } = JSON.parse(manifest);
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
