/**
 * Finds out how to install the packages of a project. The control plane's builds, the command's images and the local
 * launcher use this, so that a project is installed by the same release of the same package manager everywhere.
 *
 * - `detectInstallation`: the package manager, the folder and the command that install a project.
 * - `toolOfCommand`: the package manager that a command of the project's author needs.
 * - `fetchCommand`, `fetchTool`: fetch a package manager with npm.
 * - `YARN_VARIABLES`, `variablesOf`: its environment, so that Node.js finds what it installs.
 * - `workspaceOf`: the workspace that a folder is a member of.
 */
export { fetchCommand, fetchTool, PROGRAMS_FOLDER } from './fetch-tool.ts';
export { detectInstallation, type Installation, toolOfCommand } from './installation.ts';
export { type PackageTool, variablesOf, YARN_VARIABLES } from './package-tools.ts';
export { ProjectError } from './project-error.ts';
export { workspaceOf } from './workspaces.ts';
