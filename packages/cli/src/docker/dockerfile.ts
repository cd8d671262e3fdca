import { dirname, join } from 'node:path';
import {
  detectCommandTool,
  detectInstallation,
  fetchCommand,
  type PackageTool,
  PROGRAMS_FOLDER,
  ProjectError,
  quote as quoteWord,
  toolEnvironment,
} from '@runyard/package-managers';
import { CliError, ExitCode } from '../cli-error.ts';
import { type DeployableProject, languageOfProject } from '../project/project.ts';
import { findRequirements } from './find-requirements.ts';

/** Folder of the project in its image. */
const PROJECT = '/deps/project';
/** Folder of package managers. It is outside the project, which looks for packages in the folders above itself. */
const TOOLS = '/tmp/package-managers';
const INSTALL = 'runyard-agent install';
/** Paths that COPY takes for themselves: it expands variables, quotes and patterns. */
const PLAIN = /^[\w@%+=:,./ -]+$/;
/** A folder is a layer, of which an image has some hundred. */
const FOLDERS_AHEAD_MAX = 20;

export interface DockerfileOptions {
  /** The files that are copied into the image. */
  folder: string;
  baseImage: string;
  installCommand: string | undefined;
  buildCommand: string | undefined;
}

/**
 * Returns the Dockerfile of a project's image. Variables have the graphs and the handler of `auth` too, as in images of
 * other tools: their users need not look inside.
 *
 * @throws CliError when no supported package manager can install the project
 */
export async function generateDockerfile(project: DeployableProject, options: DockerfileOptions): Promise<string> {
  const { config } = project;
  const { folder } = options;
  const sections = { LANGSERVE_GRAPHS: config.graphs, LANGGRAPH_AUTH: config.auth };
  const variables = Object.entries(sections).filter(([, section]) => section !== undefined);
  const isPython = languageOfProject(project) === 'python';
  return [
    `FROM ${options.baseImage}`,
    ...linesOf(config.dockerfile_lines),
    ...(isPython && options.installCommand === undefined ? await linesAhead(project, folder) : []),
    // COPY comes before WORKDIR, which would create the folder for root alone; another user installs and runs the
    // project.
    `COPY --chown=node:node . ${PROJECT}`,
    `WORKDIR ${PROJECT}`,
    ...variables.map(([name, section]) => `ENV ${name}=${quote(JSON.stringify(section))}`),
    `ENV PROJECT_DIR=${PROJECT} LANGGRAPH_CONFIG_PATH=${quote(project.configPath)}`,
    ...(isPython ? [installLine(options)] : await runLines(options)),
    '',
  ].join('\n');
}

/** Lines of the project's author. @throws CliError when they are no list of texts */
function linesOf(lines: unknown = []): string[] {
  if (Array.isArray(lines) && lines.every((line) => typeof line === 'string')) return lines;
  throw new CliError('"dockerfile_lines" of langgraph.json is a list of lines.', ExitCode.usage);
}

/**
 * Returns lines that install what needs no code, so that the engine does it again only when files change that name
 * packages.
 */
async function linesAhead({ configPath, config }: DeployableProject, folder: string): Promise<string[]> {
  // pip installs nothing ahead.
  if (config.pip_installer === 'pip' || config.pip_config_file !== undefined) return [];
  const files = [configPath, ...(await findRequirements(folder))].filter((file) => PLAIN.test(file));
  const folders = [...new Set(files.map((file) => dirname(file)))];
  if (folders.length > FOLDERS_AHEAD_MAX) return [];
  return [
    ...folders.map((each) => {
      const names = [...new Set(files.filter((file) => dirname(file) === each))];
      return `COPY --chown=node:node ${JSON.stringify([...names, `${join(PROJECT, each)}/`])}`;
    }),
    `RUN cd ${PROJECT} && LANGGRAPH_CONFIG_PATH=${quoteWord(configPath)} ${INSTALL} --ahead`,
  ];
}

/** Base images have what installs Python projects in builds of the platform. */
function installLine({ installCommand, buildCommand }: DockerfileOptions): string {
  const commands = { '--install-command': installCommand, '--build-command': buildCommand };
  const options = Object.entries(commands).flatMap(([name, command]) =>
    command === undefined ? [] : [name, quoteWord(command)],
  );
  return ['RUN', INSTALL, ...options].join(' ');
}

/**
 * Installs a project in JavaScript. Each command is preceded by the installation of package managers that it needs: the
 * base image has only npm.
 */
async function runLines(options: DockerfileOptions): Promise<string[]> {
  try {
    return await findRunLines(options);
  } catch (error) {
    if (!(error instanceof ProjectError)) throw error;
    throw new CliError(error.message.replaceAll(`${options.folder}/`, ''), ExitCode.usage, { cause: error });
  }
}

async function findRunLines({ folder, installCommand, buildCommand }: DockerfileOptions): Promise<string[]> {
  const installation = installCommand === undefined ? await detectInstallation(folder, folder) : null;
  const commands: { command: string; tool: PackageTool | null }[] = [];
  if (installCommand !== undefined) {
    commands.push({ command: installCommand, tool: await detectCommandTool(installCommand, folder) });
  } else if (installation) commands.push(installation);
  if (buildCommand !== undefined) {
    commands.push({ command: buildCommand, tool: await detectCommandTool(buildCommand, folder) });
  }
  // Build tools are mostly development packages, which a production installation leaves out.
  const before = buildCommand === undefined ? [] : ['unset NODE_ENV'];
  const tools = new Map<string, PackageTool>();
  const lines: string[] = [];
  for (const { command, tool } of commands) {
    // A build uses the package manager of the installation.
    if (tool && !tools.has(tool.name)) {
      tools.set(tool.name, tool);
      lines.push(fetchLine(tool));
    }
    lines.push(`RUN ${[...before, ...formatExports([...tools.values()]), command].join(' && ')}`);
  }
  return lines;
}

function fetchLine(tool: PackageTool): string {
  const place = `${TOOLS}/${tool.name}`;
  return `RUN mkdir -p ${place} && cd ${place} && echo '{ "private": true }' > package.json && ${fetchCommand(tool)}`;
}

function formatExports(tools: PackageTool[]): string[] {
  if (tools.length === 0) return [];
  const path = [...tools.map(({ name }) => `${TOOLS}/${name}/${PROGRAMS_FOLDER}`), '$PATH'].join(':');
  const variables = Object.assign({ PATH: `"${path}"` }, ...tools.map(toolEnvironment)) as Record<string, string>;
  return [
    `export ${Object.entries(variables)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}`,
  ];
}

function quote(text: string): string {
  return `"${text.replace(/["\\$]/g, '\\$&')}"`;
}
