import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { languageOf, type ProjectLanguage, parseSource } from '@runyard/project/source';
import { parseProjectText } from '@runyard/project/text';
import { parse as parseDotenv } from 'dotenv';
import { CliError, ExitCode, reasonOf } from '../cli-error.ts';

/** A LangGraph project on this machine, as far as deploying needs it. None of its code is loaded. */
export interface DeployableProject {
  /** Absolute path of the configuration file's folder. */
  folder: string;
  /** Path of the configuration file relative to the folder. */
  configPath: string;
  /** The content of the file; only its graphs are checked here. */
  config: ProjectConfig;
  /** Variables for its code: the map of the `env` key, or the content of its dotenv file or `.env`. */
  env: Record<string, string>;
  /** Path of the dotenv file relative to the folder; null when the variables come from none. */
  envFile: string | null;
  /** One sentence each. */
  warnings: string[];
}

interface ProjectConfig {
  graphs: Record<string, unknown>;
  auth?: unknown;
  dockerfile_lines?: unknown;
  pip_config_file?: unknown;
  pip_installer?: unknown;
  env?: unknown;
}

const CONFIG_NAME = 'langgraph.json';

/**
 * Reads a project.
 *
 * @param path the project's folder or configuration file
 * @throws CliError that names the fault
 */
export async function openProject(path: string): Promise<DeployableProject> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new CliError(`There is no ${path}: name the project with --config.`, ExitCode.usage);
  const file = found.isDirectory() ? resolve(path, CONFIG_NAME) : path;
  const config = await readConfig(file);
  const folder = dirname(file);
  return { folder, configPath: basename(file), config, ...(await readEnv(config.env, folder)) };
}

/** Returns the language that a project is installed in: Python where any graph is. One with graphs in both does not load. */
export function languageOfProject({ config, folder }: Pick<DeployableProject, 'config' | 'folder'>): ProjectLanguage {
  const sources = Object.values(config.graphs).map((graph) => (graph as { path?: unknown } | null)?.path ?? graph);
  const isPython = sources.some(
    (source) => typeof source === 'string' && languageOf(parseSource(source, folder)) === 'python',
  );
  return isPython ? 'python' : 'javascript';
}

/** Reads the variables of any folder, for commands that only need a key and an address. */
export async function readFolderEnv(folder: string): Promise<Record<string, string>> {
  const text = await readFile(resolve(folder, CONFIG_NAME), 'utf8').catch(() => '{}');
  let config: { env?: unknown } | null = null;
  try {
    config = parseProjectText(text) as { env?: unknown } | null;
  } catch {
    // `deploy` reports a broken file; commands that read deployments do not need it.
  }
  return (await readEnv(config?.env, folder)).env;
}

async function readConfig(file: string): Promise<ProjectConfig> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new CliError(
      `${dirname(file)} has no ${basename(file)}: run the command in the folder of a LangGraph project, or name it with --config.`,
      ExitCode.usage,
    );
  });
  let config: unknown;
  try {
    config = parseProjectText(text);
  } catch (error) {
    throw new CliError(`${file} is not valid JSON: ${reasonOf(error)}.`, ExitCode.usage);
  }
  const graphs = (config as { graphs?: unknown } | null)?.graphs;
  if (typeof graphs !== 'object' || graphs === null || Object.keys(graphs).length === 0) {
    throw new CliError(
      `${file} names no graphs: it holds at least {"graphs": {"agent": "./src/agent.ts:graph"}}.`,
      ExitCode.usage,
    );
  }
  return config as ProjectConfig;
}

type Env = Pick<DeployableProject, 'env' | 'envFile' | 'warnings'>;

async function readEnv(env: unknown, folder: string): Promise<Env> {
  if (typeof env === 'object' && env !== null && !Array.isArray(env) && Object.keys(env).length > 0) {
    const entries = Object.entries(env).map(([name, value]) => [name, String(value)]);
    return { env: Object.fromEntries(entries), envFile: null, warnings: [] };
  }
  const isNamed = typeof env === 'string' && env !== '';
  const name = isNamed ? env : '.env';
  const path = resolve(folder, name);
  const none = (warning: string): Env => ({ env: {}, envFile: null, warnings: [warning] });
  // A foreign project must not read other files of this machine.
  if (!isInside(folder, path))
    return none(`"env" of langgraph.json names ${name}, outside the project: it is not read.`);
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text !== null) {
    return { env: parseDotenv(text), envFile: relative(folder, path).replaceAll(sep, '/'), warnings: [] };
  }
  return isNamed
    ? none(`"env" of langgraph.json names ${name}, which is not there.`)
    : { env: {}, envFile: null, warnings: [] };
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
