import type { Project } from '@runyard/graph-host';

/** Variables of the machine that programs need to find their way; nothing of the platform's is among them. */
const MACHINE_VARIABLES = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'NODE_EXTRA_CA_CERTS',
];

/** The whole environment of the process that runs the project's code. What was set for the deployment wins over its file. */
export function projectEnvironment(
  project: Pick<Project, 'env'>,
  deploymentEnv: Record<string, string>,
  machine: Record<string, string | undefined> = process.env,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of MACHINE_VARIABLES) {
    const value = machine[name];
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...project.env, ...deploymentEnv };
}
