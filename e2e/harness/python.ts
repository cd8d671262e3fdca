import path from 'node:path';
import { type PythonTest, preparePython, runPytest } from '@runyard/test-kit/python';

const folder = path.resolve(import.meta.dirname, '../python');

const ALONE = ['users', 'workspace'] as const;

/** The packages of the official clients and tools. */
export const CLIENT_REQUIREMENTS = path.join(folder, 'requirements.txt');

/**
 * Runs the tests of `e2e/python` against a deployment, with clients installed into a virtual environment of its own.
 * `more` are variables. The tests of the folders `users` and `workspace` are for deployments with users of their own,
 * and run alone.
 */
export async function runPythonTests(
  deployment: { url: string; apiKey: string },
  more: Record<string, string> = {},
  tests: 'all' | (typeof ALONE)[number] = 'all',
): Promise<PythonTest[]> {
  return runPytest({
    python: await preparePython(CLIENT_REQUIREMENTS),
    folder,
    args:
      tests === 'all'
        ? [folder, ...ALONE.map((name) => `--ignore=${path.join(folder, name)}`)]
        : [path.join(folder, tests)],
    variables: { ...more, RUNYARD_DEPLOYMENT_URL: deployment.url, RUNYARD_API_KEY: deployment.apiKey },
  });
}
