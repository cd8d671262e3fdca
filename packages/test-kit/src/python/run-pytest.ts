import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { runProgram } from '../run-program.ts';

export interface PythonTest {
  name: string;
  passed: boolean;
  failure: string;
}

export interface PytestRun {
  python: string;
  /** The folder that names of tests are relative to. */
  folder: string;
  args?: readonly string[];
  variables?: Record<string, string>;
}

/** Runs pytest, and returns each of its tests. Throws if no test ran. */
export async function runPytest({ python, folder, args = [], variables = {} }: PytestRun): Promise<PythonTest[]> {
  const temporary = await mkdtemp(join(tmpdir(), 'runyard-python-'));
  const report = join(temporary, 'report.jsonl');
  const path = [import.meta.dirname, ...(process.env.PYTHONPATH ? [process.env.PYTHONPATH] : [])].join(delimiter);
  const options = ['-q', '-p', 'report_tests', '-p', 'no:cacheprovider', '--rootdir', folder, ...args];
  try {
    const { output } = await runProgram(python, ['-m', 'pytest', ...options], {
      cwd: folder,
      variables: { PYTHONDONTWRITEBYTECODE: '1', ...variables, RUNYARD_PYTEST_REPORT: report, PYTHONPATH: path },
    });
    const text = await readFile(report, 'utf8').catch(() => '');
    if (text === '') throw new Error(`pytest ran no test\n${output}`);
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as PythonTest);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
