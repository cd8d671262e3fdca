/**
 * Finds out how to install the packages of a project. The control plane's builds, the command's images and the local
 * launcher use this, so that a project is installed by the same release of the same package manager everywhere.
 *
 * - `detectInstallation`: the package manager, the folder and the command that install a project.
 * - `detectCommandTool`: the package manager that a command of the project's author needs.
 * - `fetchCommand`, `fetchTool`: fetch a package manager with npm.
 * - `YARN_VARIABLES`, `variablesOf`: its environment, so that Node.js finds what it installs.
 * - `findLockedRelease`: the release of a package that an installation will place.
 * - `findWorkspace`: the workspace that a folder is a member of.
 */
export { fetchCommand, fetchTool, PROGRAMS_FOLDER } from './fetch-tool.ts';
export { detectCommandTool, detectInstallation, type Installation } from './installation.ts';
export { findLockedRelease } from './locked-release.ts';
export { type PackageTool, toolEnvironment, YARN_VARIABLES } from './package-tools.ts';
export { ProjectError } from './project-error.ts';
export { findWorkspace } from './workspaces.ts';
