/** Reads a project's `langgraph.json` and the environment it asks for. Loads no user code. */
import { dirname, relative, resolve } from 'node:path';
import { validatorOf } from '@runyard/contracts';
import { GraphLoadError, type ProjectExport, type ProjectGraph } from '@runyard/host-protocol';
import { readRegularFile, UnusableFileError } from '@runyard/regular-files';
import { parse as parseDotenv } from 'dotenv';
import { describeFaults, isObject } from './describe-faults.ts';
import { findIgnoredSettings } from './ignored-settings.ts';
import { languageOf, type ProjectLanguage, parseSource } from './project-source.ts';
import { parseProjectText } from './project-text.ts';
import { type PythonSettings, readPythonSettings } from './python-settings.ts';
import { ProjectFile } from './schema.ts';
import { sectionsOf, type Variables } from './section-variables.ts';
import type { AuthSection } from './sections/auth.ts';
import type { CheckpointerSection } from './sections/checkpointer.ts';
import type { HttpSection } from './sections/http.ts';
import type { StoreSection } from './sections/store.ts';
import type { WebhooksSection } from './sections/webhooks.ts';
import { findWarnings } from './warnings.ts';

/** The keys `ui` and `ui_config`. */
export interface ProjectUi {
  /** The file of each agent's components, by agent: relative to the project's folder, as written. */
  files: Record<string, string>;
  /** Modules that pages provide. */
  shared: string[];
}

export interface Project {
  /** Folder of `langgraph.json`, which relative paths start from. */
  directory: string;
  graphs: ProjectGraph[];
  /** The language of all graphs. */
  language: ProjectLanguage;
  /** The packages of a project in Python; null for another. */
  python: PythonSettings | null;
  /** Variables of the `env` key, from its map or its dotenv file. */
  env: Record<string, string>;
  /** `auth.path`, resolved like a graph's; null when the project has no auth handler. */
  auth: ProjectExport | null;
  /** `encryption.path`; null when stored data is not encrypted by the project. */
  encryption: ProjectExport | null;
  /** `http.app`; null when the project has no routes of its own. */
  app: ProjectExport | null;
  /** Parsed sections with their defaults; null when the file has no such key. */
  authSettings: AuthSection | null;
  http: HttpSection | null;
  store: StoreSection | null;
  checkpointer: CheckpointerSection | null;
  webhooks: WebhooksSection | null;
  /** Components for pages; null when the project has none. */
  ui: ProjectUi | null;
  /** Absolute path of the dotenv file that `env` names. */
  envFile: string | null;
  /**
   * The dotenv file that `env` names and that does not exist. This is usual on a fresh clone, and is reported when the
   * project does not load.
   */
  missingEnvFile: string | null;
  /** One sentence each, for the author of the file. */
  warnings: string[];
}

const checkFile = validatorOf(ProjectFile, { allIssues: true });

/**
 * @param environment what the deployment and this process set: sections given as variables win over the file's keys,
 *   those of the `env` key included. With `LANGSERVE_GRAPHS` there need be no file.
 * @throws GraphLoadError with one sentence per fault
 */
export async function readProject(
  projectDir: string,
  configPath: string,
  environment: Variables = {},
): Promise<Project> {
  const path = resolve(projectDir, configPath);
  const directory = dirname(path);
  const file = parseJson(await readText(path, sectionsOf(environment).graphs !== undefined), path);
  const { env, envFile, missingEnvFile } = await readEnv(isObject(file) ? file.env : undefined, directory);
  const variables = { ...env, ...environment };
  const content = isObject(file) ? { ...file, ...sectionsOf(variables) } : file;
  // Checking adds defaults.
  const written: unknown = structuredClone(content);
  const checked = checkFile(content);
  if (!checked.ok) throw new GraphLoadError(describeFaults(content, checked.issues, path));
  const { value } = checked;
  const graphs = Object.entries(value.graphs).map(([graphId, spec]) => {
    const description = typeof spec === 'object' ? spec.description : undefined;
    const source = parseSource(typeof spec === 'string' ? spec : spec.path, directory);
    return { graphId, ...source, ...(description !== undefined && { description }) };
  });
  const language = requireOneLanguage(graphs, directory);
  const exported = (source: string | undefined) => (source === undefined ? null : parseSource(source, directory));
  return {
    directory,
    graphs,
    language,
    python: language === 'python' ? await readPythonSettings(content, path) : null,
    env,
    envFile,
    missingEnvFile,
    auth: exported(value.auth?.path),
    encryption: exported(value.encryption?.path),
    app: exported(value.http?.app),
    authSettings: value.auth ?? null,
    http: value.http ?? null,
    store: value.store ?? null,
    checkpointer: value.checkpointer ?? null,
    webhooks: value.webhooks ?? null,
    ui: value.ui ? { files: value.ui, shared: value.ui_config?.shared ?? [] } : null,
    warnings: [
      ...findWarnings(written as object, language),
      ...findIgnoredSettings(value),
      ...findUnmetRequirements(value, variables),
    ],
  };
}

/** @throws GraphLoadError when the graphs are of two languages, or one in Python has no name */
function requireOneLanguage(graphs: ProjectGraph[], directory: string): ProjectLanguage {
  const languages = new Set(graphs.map(languageOf));
  if (languages.size > 1) {
    throw new GraphLoadError('langgraph.json names Python and JavaScript graphs; deploy them as two deployments.');
  }
  const language = languages.has('python') ? 'python' : 'javascript';
  const unnamed = graphs.find(({ symbol }) => language === 'python' && symbol === 'default');
  if (unnamed !== undefined) {
    const place = unnamed.module ?? `./${relative(directory, unnamed.file)}`;
    throw new GraphLoadError(
      `langgraph.json: "graphs.${unnamed.graphId}" needs the name of a graph behind its file, like "${place}:graph".`,
    );
  }
  return language;
}

async function readText(path: string, mayBeAbsent: boolean): Promise<string> {
  try {
    return await readRegularFile(path);
  } catch (cause) {
    if (mayBeAbsent && (cause as NodeJS.ErrnoException).code === 'ENOENT') return '{}';
    throw new GraphLoadError(`The project has no readable ${path}.`, { cause });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return parseProjectText(text);
  } catch (cause) {
    throw new GraphLoadError(`${path} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the map of the `env` key, or the content of its dotenv file. */
async function readEnv(env: unknown, directory: string): Promise<Pick<Project, 'env' | 'envFile' | 'missingEnvFile'>> {
  if (typeof env === 'string') {
    const path = resolve(directory, env);
    const text = await readRegularFile(path).catch((error: unknown) => {
      if (error instanceof UnusableFileError) throw new GraphLoadError(`"env" of langgraph.json: ${error.message}.`);
      return null;
    });
    return text === null
      ? { env: {}, envFile: path, missingEnvFile: path }
      : { env: parseDotenv(text), envFile: path, missingEnvFile: null };
  }
  const entries = isObject(env) ? Object.entries(env) : [];
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { env: Object.fromEntries(texts), envFile: null, missingEnvFile: null };
}

/** Warns about requirements of the file that this environment does not meet. */
function findUnmetRequirements({ env, node_version: version }: ProjectFile, variables: Variables): string[] {
  const missing = Array.isArray(env) ? env.filter((name) => variables[name] === undefined) : [];
  const [runningOn] = process.versions.node.split('.');
  return [
    ...missing.map((name) => `langgraph.json: "env" asks for the variable ${name}, and it is not set.`),
    ...(version === undefined || String(version) === runningOn
      ? []
      : [`langgraph.json: "node_version" is ${version}, and the project runs on Node.js ${runningOn}.`]),
  ];
}
