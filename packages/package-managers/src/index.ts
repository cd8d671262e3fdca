/**
 * What installs the packages of a project. Builds of the control plane, images of the command and the local launcher ask here,
 * so that a project is installed by the same release of the same package manager everywhere.
 *
 * - `detectInstallation`: what installs a project, where, and with which command.
 * - `toolOfCommand`: the package manager that a command of the project's author needs.
 * - `fetchCommand`, `fetchTool`: how one is had, with npm.
 * - `YARN_VARIABLES`, `variablesOf`: what it has to be told, so that Node.js finds what it installs.
 * - `workspaceOf`: the workspace that a folder is a member of.
 */
export { fetchCommand, fetchTool, PROGRAMS_FOLDER } from './fetch-tool.ts';
export { detectInstallation, type Installation, toolOfCommand } from './installation.ts';
export { type PackageTool, variablesOf, YARN_VARIABLES } from './package-tools.ts';
export { ProjectError } from './project-error.ts';
export { workspaceOf } from './workspaces.ts';
