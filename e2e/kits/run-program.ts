import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { preparePython, runProgram } from '@runyard/test-kit/python';
import type { Check } from './kit.ts';

/** A Python program, the packages that it needs, and what it is given. */
export interface KitProgram {
  /** The path of a `requirements.txt`, whose packages come from PyPI once for each content. */
  requirements: string;
  args: readonly string[];
  variables?: Record<string, string>;
  cwd?: string;
}

/** Runs a Python program to its end. Its exit code says whether checks failed, by most kits. */
export async function runPython({ requirements, args, variables = {}, cwd }: KitProgram) {
  const python = await preparePython(requirements);
  const environment = { PYTHONDONTWRITEBYTECODE: '1', ...variables };
  return await runProgram(python, [...args], { variables: environment, ...(cwd !== undefined && { cwd }) });
}

/** Runs a Python program that prints each check as a line of JSON. Throws if it ends with an error. */
export async function runChecks(program: KitProgram): Promise<Check[]> {
  const { code, output } = await runPython(program);
  if (code !== 0) throw new Error(`The kit ended with ${code}\n${output}`);
  return readChecks(output);
}

/** Runs pytest with the arguments of a program; each of its tests is a check. Throws if no test ran. */
export async function runPytest({ args, variables, ...program }: KitProgram): Promise<Check[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-kit-'));
  const file = path.join(folder, 'checks.jsonl');
  try {
    const { output } = await runPython({
      ...program,
      args: ['-m', 'pytest', '-q', '-p', 'pytest_checks', '-p', 'no:cacheprovider', '--tb=short', ...args],
      variables: { ...variables, CHECKS_FILE: file, PYTHONPATH: import.meta.dirname },
    });
    const checks = readChecks(await readFile(file, 'utf8').catch(() => ''));
    if (checks.length === 0) throw new Error(`pytest ran no test\n${output}`);
    return checks;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function readChecks(text: string): Check[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Check);
}
