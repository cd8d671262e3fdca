import path from 'node:path';
import { type PythonTest, preparePython, runPytest } from '@runyard/test-kit/python';

const folder = path.resolve(import.meta.dirname, '../python');

/** The packages of the official clients and tools. */
export const CLIENT_REQUIREMENTS = path.join(folder, 'requirements.txt');

/**
 * Runs the tests of `e2e/python` against a deployment, with clients installed into a virtual environment of its own.
 * `more` are variables. The tests of the folder `users` are for a deployment with users of its own, and run alone.
 */
export async function runPythonTests(
  deployment: { url: string; apiKey: string },
  more: Record<string, string> = {},
  tests: 'all' | 'users' = 'all',
): Promise<PythonTest[]> {
  const users = path.join(folder, 'users');
  return runPytest({
    python: await preparePython(CLIENT_REQUIREMENTS),
    folder,
    args: tests === 'users' ? [users] : [folder, `--ignore=${users}`],
    variables: { ...more, RUNYARD_DEPLOYMENT_URL: deployment.url, RUNYARD_API_KEY: deployment.apiKey },
  });
}
