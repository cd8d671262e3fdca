import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { InfrastructureError, runProgram } from '@runyard/local-infra';
import {
  checkLangGraph,
  chooseInterpreter,
  describeCommand,
  findCandidates,
  parseDescriptions,
  parseReleases,
  quote,
} from '@runyard/package-managers';
import { findPythonEnvironment, type Project, pythonOf } from '@runyard/project';

/** Milliseconds that a Python may take to answer. */
const PYTHON_MS = 15_000;
/** Prints the installed packages as `pip freeze` does, also where there is no pip. */
const LIST = `
from importlib.metadata import distributions
for each in distributions(): print(f"{each.metadata['Name']}=={each.version}")
`;

/**
 * Returns what the Python of a project lacks and how to get it; null when nothing is seen to be missing.
 *
 * @throws GraphLoadError or ProjectError when its environment cannot run it
 */
export async function findMissingPackages(project: Project, environment: NodeJS.ProcessEnv): Promise<string | null> {
  const place = await findPythonEnvironment(project.directory, environment.VIRTUAL_ENV);
  const python = place === undefined ? 'python3' : pythonOf(place);
  const { ok, stdout, stderr } = await runProgram(python, ['-I', '-c', LIST], {
    env: environment,
    timeoutMs: PYTHON_MS,
  });
  if (!ok) throw new InfrastructureError(`${python} does not run: ${stderr.trim().split('\n').at(-1)}`);
  const installed = parseReleases(stdout.split('\n'));
  checkLangGraph(installed);
  const wanted = ['langgraph', ...(await namedPackages(project))];
  const lacking = [...new Set(wanted)].filter((name) => !installed.has(name));
  if (lacking.length === 0) return null;
  const where = place === undefined ? "the system's Python has" : `${relative(project.directory, place) || place} has`;
  return `${where} no ${lacking.join(', ')}: ${installAdvice(project)}`;
}

/**
 * Returns which Python makes an environment for the project, in words.
 *
 * @throws InfrastructureError or ProjectError when none that runs it is here
 */
export async function lookForInterpreter(project: Project, environment: NodeJS.ProcessEnv): Promise<string> {
  const configured = (environment.RUNYARD_PYTHONS ?? '').split(',').filter(Boolean);
  const candidates = await findCandidates(configured, environment.PATH ?? '');
  const described = await runProgram('/bin/sh', ['-c', describeCommand(candidates)], {
    env: environment,
    timeoutMs: PYTHON_MS,
  });
  const { interpreters, hasUv } = parseDescriptions(described.stdout.split('\n'));
  const { version, path } = chooseInterpreter(interpreters, project.python?.version ?? null);
  const { ok } = await runProgram(path, ['-I', '-c', 'import venv, ensurepip'], { timeoutMs: PYTHON_MS });
  if (!ok) {
    throw new InfrastructureError(
      `${version} at ${path} has no venv: install it (Debian: apt-get install python${version}-venv).`,
    );
  }
  return `${version} at ${path}, with venv; uv ${hasUv ? 'is there' : 'is fetched by pip when the platform builds a project'}`;
}

/** Returns the names of packages that the project asks for in every environment, as far as lines of text say so. */
async function namedPackages({ python }: Project): Promise<string[]> {
  const files = await Promise.all((python?.folders ?? []).map((folder) => requirementsIn(folder)));
  return [...(python?.requirements ?? []), ...files.flat()].flatMap((line) => {
    const [, name] = /^([A-Za-z][\w.-]*)(?:\s*\[[^\]]*\])?\s*(?:[=<>!~].*)?$/.exec(line.trim()) ?? [];
    // A marker may exclude this Python.
    return name === undefined || line.includes(';') ? [] : [name.toLowerCase().replaceAll(/[-_.]+/g, '-')];
  });
}

async function requirementsIn(folder: string): Promise<string[]> {
  if (isPackage(folder)) return [];
  return (await readFile(join(folder, 'requirements.txt'), 'utf8').catch(() => '')).split('\n');
}

function isPackage(folder: string): boolean {
  return ['pyproject.toml', 'setup.py'].some((name) => existsSync(join(folder, name)));
}

function installAdvice({ directory, python }: Project): string {
  if (python?.lock) return `\`uv sync\` in ${relative(directory, python.lock.folder) || 'the folder'}`;
  const folders = python?.folders ?? [];
  const args = folders.map((folder) => {
    const path = `./${relative(directory, folder)}`;
    return isPackage(folder) ? `-e ${quote(path)}` : `-r ${quote(join(path, 'requirements.txt'))}`;
  });
  const words = [...(python?.requirements ?? []).map(quote), ...args].join(' ');
  return `\`python3 -m venv .venv && .venv/bin/pip install ${words}\``;
}
