/** Reads a project's `langgraph.json` and the environment it asks for. Loads no user code. */
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { Compile } from 'typebox/compile';
import { GraphLoadError } from '../errors.ts';
import { ProjectFile, PYTHON_KEYS, SILENT_KEYS } from './schema.ts';

export interface ProjectGraph {
  graphId: string;
  /** Absolute path of the source file. */
  file: string;
  /** Export to take from it. */
  symbol: string;
  description?: string;
}

export interface Project {
  /** Folder of `langgraph.json`: relative paths start here. */
  directory: string;
  graphs: ProjectGraph[];
  /** Variables of the `env` key, from its map or its dotenv file. */
  env: Record<string, string>;
  /** `auth.path`, resolved like a graph's; null when the project has no auth handler. */
  auth: { file: string; symbol: string } | null;
  http: Record<string, unknown> | null;
  store: Record<string, unknown> | null;
  checkpointer: Record<string, unknown> | null;
  webhooks: Record<string, unknown> | null;
  /** The dotenv file that `env` names and that is not there. Usual on a fresh clone, and worth a word when a variable is missing. */
  missingEnvFile: string | null;
  /** One sentence each, for the person who wrote the file. */
  warnings: string[];
}

const projectFile = Compile(ProjectFile);

/** @throws GraphLoadError with one sentence per fault */
export async function readProject(projectDir: string, configPath: string): Promise<Project> {
  const path = resolve(projectDir, configPath);
  const directory = dirname(path);
  const content = parseJson(await readText(path), path);
  if (!projectFile.Check(content)) throw new GraphLoadError(describeFaults(content, path));
  const env = await readEnv(content.env, directory);
  const graphs = Object.entries(content.graphs).map(([graphId, spec]) => {
    const description = typeof spec === 'object' ? spec.description : undefined;
    const source = parseSource(typeof spec === 'string' ? spec : spec.path, directory);
    return { graphId, ...source, ...(description !== undefined && { description }) };
  });
  return {
    directory,
    graphs,
    env: env ?? {},
    missingEnvFile: env === null ? resolve(directory, content.env as string) : null,
    auth: content.auth?.path === undefined ? null : parseSource(content.auth.path, directory),
    http: content.http ?? null,
    store: content.store ?? null,
    checkpointer: content.checkpointer ?? null,
    webhooks: content.webhooks ?? null,
    warnings: unknownKeys(content),
  };
}

/** `./file.ts:export` → absolute file and export name; without one, `default`. The last colon counts: `C:` has one too. */
export function parseSource(source: string, directory: string): { file: string; symbol: string } {
  const colon = source.lastIndexOf(':');
  const hasSymbol = colon > 1;
  const file = hasSymbol ? source.slice(0, colon) : source;
  const symbol = hasSymbol ? source.slice(colon + 1) : '';
  return { file: isAbsolute(file) ? file : resolve(directory, file), symbol: symbol === '' ? 'default' : symbol };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new GraphLoadError(`The project has no readable ${path}.`, { cause });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new GraphLoadError(`${path} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

function describeFaults(content: unknown, path: string): string {
  if (typeof content !== 'object' || content === null || !('graphs' in content)) {
    return `${path} must be an object with a "graphs" key that names at least one graph, like {"graphs": {"agent": "./src/agent.ts:graph"}}.`;
  }
  const faults = projectFile.Errors(content).map((fault) => {
    const where = fault.instancePath.split('/').filter(Boolean).join('.');
    return `${where === '' ? 'the file' : where} ${fault.message}`;
  });
  return `${path} has ${faults.length === 1 ? 'a fault' : 'faults'}: ${[...new Set(faults)].join('; ')}.`;
}

function unknownKeys(content: object): string[] {
  return Object.keys(content)
    .filter((key) => !(key in ProjectFile.properties) && !SILENT_KEYS.has(key))
    .map((key) =>
      PYTHON_KEYS.has(key)
        ? `langgraph.json: "${key}" is for Python projects and has no effect here.`
        : `langgraph.json: "${key}" is not known and has no effect.`,
    );
}

/** Null when the file that is named does not exist. */
async function readEnv(env: ProjectFile['env'], directory: string): Promise<Record<string, string> | null> {
  if (env === undefined) return {};
  if (typeof env === 'object') return { ...env };
  const text = await readFile(resolve(directory, env), 'utf8').catch(() => null);
  return text === null ? null : parseDotenv(text);
}
