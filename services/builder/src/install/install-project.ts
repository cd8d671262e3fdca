import { readProject } from '@runyard/project';
import type { JavaScriptPackages } from './javascript-packages.ts';
import { PythonPackages, type PythonPackagesOptions } from './python-packages.ts';

export interface InstallOptions extends Omit<PythonPackagesOptions, 'settings' | 'directory'> {
  /** Absolute path of `langgraph.json`. */
  configPath: string;
  packages: JavaScriptPackages;
  /** The author's own command, in place of what files of the project say; null for none. */
  installCommand: string | null;
}

/**
 * Installs the packages of a project, in whichever languages it is.
 *
 * @throws BuildError, ProjectError or GraphLoadError
 */
export async function installProject(options: InstallOptions): Promise<void> {
  const { configPath, packages, installCommand, root } = options;
  const { directory, python: settings, ui } = await readProject(root, configPath);
  if (settings !== null) {
    await new PythonPackages({ ...options, settings, directory }).install(installCommand);
    // Its components are in JavaScript, and so are their packages.
    if (ui !== null && installCommand === null) await packages.install(root, directory);
  } else if (installCommand !== null) {
    await packages.runOwn(installCommand, root);
  } else {
    await packages.install(root, directory);
  }
}

/**
 * Begins the environment of a Python project in an image, before its code is there.
 *
 * @throws BuildError, ProjectError or GraphLoadError
 */
export async function installAhead(options: Omit<InstallOptions, 'packages' | 'installCommand'>): Promise<void> {
  const { directory, python: settings } = await readProject(options.root, options.configPath);
  if (settings !== null) await new PythonPackages({ ...options, settings, directory }).installAhead();
}
