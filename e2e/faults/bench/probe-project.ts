import path from 'node:path';
import { packagesOf, preparePython } from '@runyard/test-kit/python';

const FOLDERS = {
  javascript: path.join(import.meta.dirname, '../project'),
  python: path.join(import.meta.dirname, '../python-project'),
};
/** Packages for graphs in Python. Tests of the Python host have the same, so that a machine installs them once. */
const REQUIREMENTS = path.join(import.meta.dirname, '../../../hosts/python/requirements.txt');

/** The language of the probe graphs. They have the same names in each, take the same input and note the same. */
export type Language = keyof typeof FOLDERS;
export const LANGUAGES = Object.keys(FOLDERS) as Language[];

export interface ProbeProject {
  language: Language;
  folder: string;
  /** Variables of the machine by which its packages are found. */
  environment: Record<string, string>;
}

/** Installs the packages of the project where it does not share those of the repository. */
export async function prepareProbeProject(language: Language): Promise<ProbeProject> {
  const folder = FOLDERS[language];
  if (language === 'javascript') return { language, folder, environment: {} };
  const python = await preparePython(REQUIREMENTS);
  return { language, folder, environment: packagesOf(python) };
}
