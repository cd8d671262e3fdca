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
 * - `findCandidates` … `chooseInterpreter`: the Python of a project, among those of a machine.
 * - `fetchUv`, `planSteps`: the installer of its packages, and its commands.
 * - `missingCompanions`, `checkLangGraph`: what an environment lacks to run here.
 * - `moveCommand`: makes an environment valid in other places.
 * - `exists`: whether there is a file or folder.
 */
export { exists } from './exists.ts';
export { fetchCommand, fetchTool, PROGRAMS_FOLDER } from './fetch-tool.ts';
export { detectCommandTool, detectInstallation, type Installation } from './installation.ts';
export { findLockedRelease } from './locked-release.ts';
export { type PackageTool, toolEnvironment, YARN_VARIABLES } from './package-tools.ts';
export { ProjectError } from './project-error.ts';
export * from './python/companions.ts';
export { fetchUv } from './python/fetch-uv.ts';
export { INDEX_VARIABLES, withUvVariables } from './python/index-variables.ts';
export * from './python/install-steps.ts';
export * from './python/interpreters.ts';
export { moveCommand } from './python/move-environment.ts';
export { quote } from './python/shell.ts';
export { findWorkspace } from './workspaces.ts';
