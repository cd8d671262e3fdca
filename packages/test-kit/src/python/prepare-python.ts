import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../run-program.ts';

const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url));

/** The installer of packages: it takes a fraction of the time of pip, from which it comes. */
const UV = 'uv==0.13.9';
/** Compiled, a program of Python is there in a second instead of seven. */
const INSTALL = ['pip', 'install', '-q', '--compile-bytecode'];

/**
 * Returns the Python that has the packages of a requirements.txt. It runs their programs as modules.
 *
 * @param interpreter the Python that it is made of; default: `python3` of the PATH
 */
export async function preparePython(requirements: string, interpreter = 'python3'): Promise<string> {
  return join(await environment(requirements, interpreter), 'bin/python');
}

/** Returns the interpreter of a release of Python, as `3.13`, that is on the PATH; undefined where none runs there. */
export async function findPython(version: string): Promise<string | undefined> {
  const asked = runProgram(`python${version}`, ['-c', 'import os, sys; print(os.path.realpath(sys.executable))']);
  const { code, output } = await asked.catch(() => ({ code: null, output: '' }));
  return code === 0 ? output.trim() : undefined;
}

/** Returns the variables by which the platform finds the packages that a Python of {@link preparePython} has. */
export function packagesOf(python: string): { VIRTUAL_ENV: string } {
  return { VIRTUAL_ENV: dirname(dirname(python)) };
}

/**
 * Creates the environment once for each content of a requirements.txt and interpreter, under another name and then
 * renamed: an existing one is complete.
 */
async function environment(requirements: string, interpreter: string): Promise<string> {
  const hash = createHash('sha256').update([UV, ...INSTALL, interpreter].join(' '), 'utf8');
  hash.update(await readFile(requirements));
  const place = join(CACHE, `python-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(place)) return place;
  const aside = `${place}-${process.pid}`;
  await succeed(interpreter, ['-m', 'venv', aside]);
  const python = join(aside, 'bin/python');
  await succeed(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', UV]);
  await succeed(join(aside, 'bin/uv'), [...INSTALL, '--python', python, '-r', requirements]);
  await rename(aside, place).catch(async (error: NodeJS.ErrnoException) => {
    // Another test file was faster.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(aside, { recursive: true, force: true });
  });
  return place;
}

async function succeed(command: string, args: string[]): Promise<void> {
  const { code, output } = await runProgram(command, args, { variables: indexVariables(process.env) });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${output}`);
}

/** Names to uv the index and the certificates that the environment names to pip. */
function indexVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = { UV_INDEX_URL: 'PIP_INDEX_URL', UV_FIND_LINKS: 'PIP_FIND_LINKS', SSL_CERT_FILE: 'PIP_CERT' };
  const given = Object.entries(names).map(([name, ofPip]) => [name, env[name] ?? env[ofPip]] as const);
  return Object.fromEntries(given.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}
