import { createHash } from 'node:crypto';
import { findOnPath } from './find-binary.ts';
import { InfrastructureError, reasonOf } from './infrastructure-error.ts';
import type { ReportStep } from './report-step.ts';
import { runProgram } from './run-program.ts';
import type { SupervisedProcess } from './supervision/supervised-process.ts';
import type { Supervisor } from './supervision/supervisor.ts';

export interface ServerContainerOptions {
  name: string;
  image: string;
  /** The address of this machine at which it is reached. */
  host: string;
  /** Port at that address → port in the container. */
  port: { host: number; container: number };
  /** Host path → path in the container. */
  volumes: Record<string, string>;
  /** Variables that are given by name only on the command line, so that no value shows in the list of processes. */
  env: Record<string, string>;
  command?: string[];
  logFile: string;
  progress: ReportStep;
}

/** Returns the docker program, if an engine answers it. */
export async function findDocker(environment: NodeJS.ProcessEnv): Promise<string | null> {
  const docker = await findOnPath('docker', environment);
  if (!docker) return null;
  const version = await runProgram(docker, ['version', '--format', '{{.Server.Version}}'], { timeoutMs: 5_000 });
  return version.ok ? docker : null;
}

/** The engine does not have the image and cannot pull it. The message is a part of a sentence. */
export class ImageUnavailableError extends InfrastructureError {
  override readonly name = 'ImageUnavailableError';
}

const PULL_TIMEOUT_MS = 600_000;

/** @throws ImageUnavailableError */
async function pullImage(
  docker: string,
  { name, image, progress }: Pick<ServerContainerOptions, 'name' | 'image' | 'progress'>,
): Promise<void> {
  if ((await runProgram(docker, ['image', 'inspect', image], { timeoutMs: 10_000 })).ok) return;
  const pulling = runProgram(docker, ['pull', '--quiet', image], { timeoutMs: PULL_TIMEOUT_MS });
  progress(`${name}: pulling ${image}, once`, pulling);
  const pulled = await pulling;
  if (!pulled.ok) throw new ImageUnavailableError(`${image} cannot be pulled: ${reasonOf(pulled.stderr)}`);
}

/**
 * Runs a container in the foreground of a supervised `docker run`, which passes its stop signal on; so a container
 * lives and dies like any other child. One that a killed docker client left behind is removed first.
 */
export async function startContainer(
  supervisor: Supervisor,
  docker: string,
  options: ServerContainerOptions,
): Promise<SupervisedProcess> {
  const container = `runyard-${createHash('sha256').update(supervisor.dataDir).digest('hex').slice(0, 8)}-${options.name}`;
  await runProgram(docker, ['rm', '--force', container], { timeoutMs: 30_000 });
  await pullImage(docker, options);
  return supervisor.start({
    name: options.name,
    command: docker,
    args: containerArguments(container, options),
    env: { ...process.env, ...options.env },
    logFile: options.logFile,
  });
}

export function containerArguments(container: string, options: ServerContainerOptions): string[] {
  return [
    'run',
    '--rm',
    '--init',
    ...['--name', container],
    ...['--publish', `${options.host}:${options.port.host}:${options.port.container}`],
    ...Object.entries(options.volumes).flatMap(([host, inside]) => ['--volume', `${host}:${inside}`]),
    ...Object.keys(options.env).flatMap((variable) => ['--env', variable]),
    options.image,
    ...(options.command ?? []),
  ];
}
