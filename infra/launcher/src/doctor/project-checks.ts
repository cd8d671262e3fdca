import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isReservedVariable } from '@runyard/contracts';
import { askPythonIndex, runProgram } from '@runyard/local-infra';
import { findMissingInstallation } from '../project/install-dependencies.ts';
import { readProject } from '../project/read-project.ts';
import { type Check, type Finding, missing, notNeeded, ok } from './check.ts';
import { findMissingPackages, lookForInterpreter } from './python-packages.ts';

/** Milliseconds that npm may take to ask its registry. */
const NPM_MS = 12_000;
const NO_PROJECT = 'there is no project that can be read';

const file: Check = {
  name: 'langgraph.json',
  async look({ folder, project }) {
    if (!existsSync(join(folder, 'langgraph.json')))
      return missing(`${folder} has none: make a project with \`runyard new\`, or name one with --project`);
    const { graphs } = await readProject(folder);
    const warnings = project?.warnings ?? [];
    return ok([`graphs: ${graphs.join(', ')}`, ...warnings].join('; '));
  },
};

const packages: Check = {
  name: 'Packages',
  async look({ folder, project, environment }) {
    if (project === null) return notNeeded(NO_PROJECT);
    if (project.language === 'python') {
      const lacking = await findMissingPackages(project, environment);
      return lacking === null ? ok('installed') : missing(lacking);
    }
    const installation = await findMissingInstallation(folder);
    return installation === null ? ok('installed') : ok(`the start installs them: ${installation.command}`);
  },
};

const registry: Check = {
  name: 'Package registry',
  async look({ folder, project, environment }) {
    if (project === null) return notNeeded(NO_PROJECT);
    if (project.language === 'python') {
      if ((await findMissingPackages(project, environment)) === null) return notNeeded('all packages are installed');
      return ok(`${await askPythonIndex(environment)} answers`);
    }
    if ((await findMissingInstallation(folder)) === null) return notNeeded('all packages are installed');
    return askNpm(folder, environment);
  },
};

/** Asks the registry as npm does: with its settings, proxies and logins. Whoever answers, with whatever, is there. */
async function askNpm(folder: string, environment: NodeJS.ProcessEnv): Promise<Finding> {
  const flags = ['--fetch-retries=0', '--fetch-timeout=8000', '--logs-max=0', '--no-update-notifier'];
  const options = { cwd: folder, env: environment, timeoutMs: NPM_MS };
  const { ok: isAnswering, stderr } = await runProgram('npm', ['ping', ...flags], options);
  const answered = isAnswering || /\bcode E[45]\d\d\b/.test(stderr);
  if (answered) return ok('the registry of npm answers');
  const [, reason = 'no answer'] = /\bcode (E?\w+)/.exec(stderr) ?? [];
  return missing(
    `the registry of npm cannot be reached (${reason}): check the network, or \`npm config get registry\``,
  );
}

const python: Check = {
  name: 'Python',
  async look({ project, environment }) {
    if (project?.language !== 'python')
      return notNeeded(project === null ? NO_PROJECT : 'the project is in JavaScript');
    return ok(await lookForInterpreter(project, environment));
  },
};

const variables: Check = {
  name: 'Variables',
  async look({ folder, project }) {
    if (project === null) return notNeeded(NO_PROJECT);
    const { envFile, missingEnvFile } = project;
    if (missingEnvFile !== null) return ok(`${relative(folder, missingEnvFile)} is not there, and none are set`);
    const names = Object.keys(project.env);
    const reserved = names.filter(isReservedVariable);
    const place = envFile === null ? 'langgraph.json' : relative(folder, envFile);
    const note =
      reserved.length > 0 ? [`the platform's own, which a deployment does not get: ${reserved.join(', ')}`] : [];
    return ok([`${names.length} in ${place}`, ...note].join('; '));
  },
};

/** Checks of the project in the folder. */
export const PROJECT_CHECKS: readonly Check[] = [file, python, packages, registry, variables];
