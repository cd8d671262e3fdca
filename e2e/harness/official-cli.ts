import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { preparePython } from '@runyard/test-kit/python';
import { inject } from 'vitest';
import { CLIENT_REQUIREMENTS } from './python.ts';

interface FinishedCommand {
  code: number | null;
  output: string;
}

interface CliEnvironment {
  cwd?: string;
  /** The PATH variable. */
  path?: string;
}

/** One of the two official commands, as published. */
export interface OfficialCli {
  /** Runs `deploy`, or one of the commands below it, against the platform under test. */
  deploy(args: string[], options?: CliEnvironment): Promise<FinishedCommand>;
}

export const javascriptCli: OfficialCli = {
  deploy: (args, options) =>
    run([path.resolve(import.meta.dirname, '../node_modules/.bin/langgraphjs')], args, options),
};

export const pythonCli: OfficialCli = {
  deploy: async (args, options) =>
    run([await preparePython(CLIENT_REQUIREMENTS), '-m', 'langgraph_cli'], args, options),
};

/** Fakes a package manager where no test looks at it: the packages are those of this folder. */
export const LINK_PACKAGES = `echo linking packages && mkdir -p node_modules && ln -s ${path.resolve(
  import.meta.dirname,
  '../node_modules/@langchain',
)} node_modules/@langchain`;

/** Copies a project of `e2e/projects`, so that a test may change it. */
export async function copyProject(name: string): Promise<{ folder: string; remove(): Promise<void> }> {
  const parent = await mkdtemp(path.join(tmpdir(), 'runyard-deployed-'));
  const folder = path.join(parent, name);
  await cp(path.resolve(import.meta.dirname, '../projects', name), folder, { recursive: true });
  return { folder, remove: () => rm(parent, { recursive: true, force: true }) };
}

async function run(
  program: [string, ...string[]],
  args: string[],
  { cwd = tmpdir(), path: searched = process.env.PATH ?? '' }: CliEnvironment = {},
): Promise<FinishedCommand> {
  const { url, apiKey } = inject('platform');
  const [file, ...before] = program;
  const child = spawn(file, [...before, 'deploy', ...args, '--host-url', url], {
    cwd,
    // Nothing comes from the user of this machine: neither keys nor names of deployments.
    env: {
      PATH: searched,
      HOME: tmpdir(),
      LANGGRAPH_HOST_API_KEY: apiKey,
      LANGGRAPH_CLI_NO_ANALYTICS: '1',
      NO_COLOR: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output };
}
