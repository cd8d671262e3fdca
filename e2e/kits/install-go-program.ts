import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '@runyard/test-kit/python';

const CACHE = path.resolve(import.meta.dirname, '../node_modules/.cache');

/**
 * Returns the path of a program that Go builds from a published module, once for each version.
 *
 * @param module the path of the package that has its `main`, whose last part is the program's name
 * @throws if Go is not installed, or the module cannot be had
 */
export async function installGoProgram(module: string, version: string): Promise<string> {
  const name = path.posix.basename(module);
  const place = path.join(CACHE, `kit-${name}-${version}`);
  const program = path.join(place, name);
  if (existsSync(program)) return program;
  const aside = `${place}-${process.pid}`;
  try {
    const { code, output } = await runGo(['install', `${module}@${version}`], { GOBIN: aside });
    if (code !== 0) throw new Error(`go install ${module}@${version} ended with ${code}\n${output}`);
    await rename(aside, place);
    return program;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function runGo(args: string[], variables: Record<string, string>) {
  try {
    return await runProgram('go', args, { variables });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error('Go is not installed, or not in PATH: this kit is built with it (https://go.dev/doc/install).');
  }
}
