import { dirname, resolve } from 'node:path';
import { validatorOf } from '@runyard/contracts';
import { GraphLoadError } from '@runyard/host-protocol';
import { describeFaults } from './describe-faults.ts';
import { importPathOf } from './python-folders.ts';
import { isTooOld, OLDEST_PYTHON } from './python-version.ts';
import { PythonFile } from './sections/python.ts';

/** The keys about the packages of a project in Python. Paths are absolute. */
export interface PythonSettings {
  /** Has no patch number: `3.12`. Null where any that is supported will do. */
  version: string | null;
  /** Requirements that `dependencies` names. */
  requirements: string[];
  /** Folders that `dependencies` names. */
  folders: string[];
  /** The lock file of uv that is installed instead of `dependencies`, by its folder. */
  lock: { folder: string; member: string | null } | null;
  installer: 'auto' | 'pip' | 'uv';
  pipConfigFile: string | null;
  /** Tools of Python that stay in its environment. */
  keptTools: string[];
  /** Folders of the project that modules are imported from, behind what is installed. */
  importPaths: string[];
}

const PKG_TOOLS = ['pip', 'setuptools', 'wheel'];

const checkFile = validatorOf(PythonFile, { allIssues: true });

/**
 * @param content of the file at `path`
 * @throws GraphLoadError
 */
export async function readPythonSettings(content: unknown, path: string): Promise<PythonSettings> {
  const checked = checkFile(content);
  if (!checked.ok) throw new GraphLoadError(describeFaults(content, checked.issues, path));
  const { python_version: version, dependencies = [], source, pip_config_file, keep_pkg_tools: kept } = checked.value;
  const directory = dirname(path);
  if (version !== undefined && isTooOld(version)) {
    throw new GraphLoadError(`langgraph.json: "python_version" is ${version}; ${OLDEST_PYTHON} or newer is needed.`);
  }
  if (source !== undefined && dependencies.length > 0) {
    throw new GraphLoadError('langgraph.json: "source" and "dependencies" exclude each other: name one of them.');
  }
  const folders = dependencies.filter(isFolder).map((entry) => resolve(directory, entry));
  return {
    version: version ?? null,
    requirements: dependencies.filter((entry) => !isFolder(entry)),
    folders,
    lock: source ? { folder: resolve(directory, source.root ?? '.'), member: source.package ?? null } : null,
    installer: checked.value.pip_installer ?? 'auto',
    pipConfigFile: pip_config_file === undefined ? null : resolve(directory, pip_config_file),
    keptTools: kept === true ? PKG_TOOLS : kept || [],
    importPaths: await Promise.all(folders.map((folder) => importPathOf(folder, directory))),
  };
}

const isFolder = (dependency: string) => dependency.startsWith('.');
