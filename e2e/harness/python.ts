import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const folder = path.resolve(import.meta.dirname, '../python');
const cache = path.resolve(import.meta.dirname, '../node_modules/.cache');

export interface PythonTest {
  name: string;
  passed: boolean;
  failure: string;
}

/**
 * Runs the tests of `e2e/python` against a deployment, with clients installed into a virtual environment of its own.
 * `more` are variables. The tests of the folder `users` are for a deployment with users of its own, and run alone.
 */
export async function runPythonTests(
  deployment: { url: string; apiKey: string },
  more: Record<string, string> = {},
  tests: 'all' | 'users' = 'all',
): Promise<PythonTest[]> {
  const python = await preparePython();
  const report = path.join(await mkdtemp(path.join(tmpdir(), 'runyard-python-')), 'report.jsonl');
  const variables = {
    ...more,
    RUNYARD_DEPLOYMENT_URL: deployment.url,
    RUNYARD_API_KEY: deployment.apiKey,
    RUNYARD_PYTEST_REPORT: report,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const users = path.join(folder, 'users');
  const chosen = tests === 'users' ? [users] : [folder, `--ignore=${users}`];
  const options = ['-q', '-p', 'no:cacheprovider', '--rootdir', folder];
  const { output } = await runProgram(python, ['-m', 'pytest', ...options, ...chosen], { variables });
  const text = await readFile(report, 'utf8').catch(() => '');
  await rm(path.dirname(report), { recursive: true, force: true });
  if (text === '') throw new Error(`pytest ran no test\n${output}`);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PythonTest);
}

/** Returns the Python that has the packages of a requirements.txt. It runs their programs as modules. */
export async function preparePython(requirements = path.join(folder, 'requirements.txt')): Promise<string> {
  return path.join(await environment(requirements), 'bin/python');
}

/**
 * Creates the environment once for each content of a requirements.txt, under another name and then renamed: an existing
 * one is complete.
 */
async function environment(requirements: string): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  const place = path.join(cache, `python-${hash}`);
  if (existsSync(place)) return place;
  const aside = `${place}-${process.pid}`;
  await succeed('python3', ['-m', 'venv', aside]);
  await succeed(path.join(aside, 'bin/python'), [
    '-m',
    'pip',
    'install',
    '-q',
    '--disable-pip-version-check',
    '-r',
    requirements,
  ]);
  await rename(aside, place).catch(async (error: NodeJS.ErrnoException) => {
    // Another test file was faster.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(aside, { recursive: true, force: true });
  });
  return place;
}

async function succeed(command: string, args: string[]): Promise<void> {
  const { code, output } = await runProgram(command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${output}`);
}

/** Runs a program to its end and returns all its output. */
export async function runProgram(
  command: string,
  args: string[],
  { variables = {}, cwd }: { variables?: Record<string, string>; cwd?: string } = {},
): Promise<{ code: number | null; output: string }> {
  const env = { ...process.env, ...variables };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...(cwd !== undefined && { cwd }) });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, output };
}
