import { join } from 'node:path';
import { packagesOf, preparePython } from '@runyard/test-kit/python';

const REPOSITORY = join(import.meta.dirname, '../../..');
/** The public Python server and its LangGraph, which the platform runs the same project with. */
const REQUIREMENTS = join(REPOSITORY, 'e2e/oracle/requirements.txt');

const FOLDERS = {
  javascript: join(REPOSITORY, 'bench/echo-project'),
  python: join(REPOSITORY, 'bench/python-project'),
};
export type Language = keyof typeof FOLDERS;
export const LANGUAGES = Object.keys(FOLDERS) as Language[];

/** A project with a graph named `echo`. */
export interface BenchProject {
  folder: string;
  /** Variables of the machine by which its packages are found. */
  environment: Record<string, string>;
  /** The interpreter whose environment has its packages and the public server; undefined for JavaScript. */
  python?: string;
}

/** Installs the packages of the project where it does not share those of the repository. */
export async function prepareProject(language: Language): Promise<BenchProject> {
  const folder = FOLDERS[language];
  if (language === 'javascript') return { folder, environment: {} };
  const python = await preparePython(REQUIREMENTS);
  return { folder, environment: packagesOf(python), python };
}
